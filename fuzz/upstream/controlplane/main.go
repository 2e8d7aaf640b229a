// Four programs of one control plane in one binary: the first argument says which of them to be.
// A fifth, signing-key, prints a new key for the tokens that the API server signs.
//
// Each ends when its standard input does, so that none outlives the program that started it.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": manager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 2 {
		refuse("nothing")
	}
	name := os.Args[1]
	if name == "signing-key" {
		printKey()
		return
	}
	os.Args = append([]string{name}, os.Args[2:]...)
	command, known := commands[name]
	if !known && name != "etcd" {
		refuse(name)
	}
	go endWithInput()
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	os.Exit(cli.Run(command()))
}

func endWithInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3)
}

func printKey() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	bytes, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err)
	}
	_ = pem.Encode(os.Stdout, &pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes})
}

func refuse(name string) {
	fmt.Fprintf(os.Stderr, "%s: say etcd, kube-apiserver, kube-controller-manager or kube-scheduler\n", name)
	os.Exit(2)
}
