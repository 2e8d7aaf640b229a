// Command upstream answers line-JSON requests with what the Kubernetes release
// that it was built against does. One binary is built per release, see README.md.
package main

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

// answer is one line of output; encoding/json sorts its keys.
type answer map[string]any

// operation is one op of the protocol. Known keys beyond op, name and release are listed, others are refused.
type operation struct {
	keys   []string
	handle func(raw map[string]json.RawMessage) (answer, error)
}

var operations = map[string]operation{
	"allocate": {allocateKeys, allocate},
	"cel":      {[]string{"expr", "mode", "list", "consumableCapacity", "device"}, evaluate},
	"quantity": {[]string{"value"}, quantity},
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-version" {
		fmt.Println(buildVersion())
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(respond(line)); err != nil {
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
func respond(line []byte) (result answer) {
	name, named := "", false
	defer func() {
		if p := recover(); p != nil {
			result = answer{"panic": fmt.Sprint(p), "where": panicSite(debug.Stack())}
		}
		if named {
			result["name"] = name
		}
	}()
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, &raw); err != nil {
		return answer{"bad": err.Error()}
	}
	if text, ok := raw["name"]; ok {
		if err := json.Unmarshal(text, &name); err != nil {
			return answer{"bad": "name: " + err.Error()}
		}
		named = true
	}
	op := "allocate"
	if text, ok := raw["op"]; ok {
		if err := json.Unmarshal(text, &op); err != nil {
			return answer{"bad": "op: " + err.Error()}
		}
	}
	known, ok := operations[op]
	if !ok {
		return answer{"bad": fmt.Sprintf("unknown op %q", op)}
	}
	if err := checkKeys(raw, known.keys); err != nil {
		return answer{"bad": err.Error()}
	}
	result, err := known.handle(raw)
	if err != nil {
		return answer{"bad": err.Error()}
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

// decode reads raw[key] into target in the way the request's own fields are read: unknown fields are refused.
func decode(raw map[string]json.RawMessage, key string, target any) error {
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
