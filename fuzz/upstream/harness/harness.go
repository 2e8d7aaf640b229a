// Package harness answers one JSON object a line with one JSON object a line, whatever upstream does meanwhile.
package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Answer is one line of output; encoding/json sorts its keys.
type Answer map[string]any

// Operation is one op of the protocol. Keys beyond op, name and release have to be listed, others are refused.
type Operation struct {
	Keys   []string
	Handle func(raw map[string]json.RawMessage) (Answer, error)
}

// Main serves standard input until it ends; with -version it prints the version of the module it was built against.
func Main(module string, operations map[string]Operation) {
	if len(os.Args) == 2 && os.Args[1] == "-version" {
		fmt.Println(buildVersion(module))
		return
	}
	if err := serve(os.Stdin, os.Stdout, operations); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

func buildVersion(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return "unknown"
}

func serve(in io.Reader, out io.Writer, operations map[string]Operation) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(respond(line, operations)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// respond never panics: a panic of upstream is an answer, not the end of the program.
func respond(line []byte, operations map[string]Operation) (result Answer) {
	name, named := "", false
	defer func() {
		if p := recover(); p != nil {
			result = Answer{"panic": fmt.Sprint(p), "where": panicSite(debug.Stack())}
		}
		if named {
			result["name"] = name
		}
	}()
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, &raw); err != nil {
		return Answer{"bad": err.Error()}
	}
	if text, ok := raw["name"]; ok {
		if err := json.Unmarshal(text, &name); err != nil {
			return Answer{"bad": "name: " + err.Error()}
		}
		named = true
	}
	op := "allocate"
	if text, ok := raw["op"]; ok {
		if err := json.Unmarshal(text, &op); err != nil {
			return Answer{"bad": "op: " + err.Error()}
		}
	}
	known, ok := operations[op]
	if !ok {
		return Answer{"bad": fmt.Sprintf("unknown op %q", op)}
	}
	if err := checkKeys(raw, known.Keys); err != nil {
		return Answer{"bad": err.Error()}
	}
	result, err := known.Handle(raw)
	if err != nil {
		return Answer{"bad": err.Error()}
	}
	return result
}

func checkKeys(raw map[string]json.RawMessage, known []string) error {
	var unknown []string
	for key := range raw {
		if key != "op" && key != "name" && key != "release" && !slices.Contains(known, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("unknown keys: %s", strings.Join(unknown, ", "))
}

// panicSite names the upstream function in which a panic arose, without addresses, so that it is stable.
func panicSite(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	panicked := false
	for _, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			panicked = true
			continue
		}
		if panicked && strings.HasPrefix(line, "k8s.io/") {
			if open := strings.LastIndex(line, "("); open > 0 {
				line = line[:open]
			}
			return line
		}
	}
	return ""
}

// Decode reads raw[key] into target in the way the request's own fields are read: unknown fields are refused.
func Decode(raw map[string]json.RawMessage, key string, target any) error {
	text, ok := raw[key]
	if !ok {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
