// Prints the simple conformance tests of cel-spec as JSON, one file a line, from a folder of the module cache.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
	"cel.dev/expr/conformance/test"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: celspec FOLDER")
	}
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "tests", "simple", "testdata", "*.textproto"))
	if err != nil || len(paths) == 0 {
		log.Fatalf("no tests below %s: %v", os.Args[1], err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, path := range paths {
		line, err := asJSON(path)
		if err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
}

func asJSON(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file := &test.SimpleTestFile{}
	if err := prototext.Unmarshal(text, file); err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{}.Marshal(file)
}
