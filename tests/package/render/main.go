// SPDX-License-Identifier: BSD-2-Clause

// render CHART: what Helm makes of a chart's templates, for tests/package/chart where there is no Helm: by the same engine,
// Go's text/template, with the functions that our templates call. Values and Chart come as JSON on standard input; below
// the outermost, what toYaml writes is JSON here, which is YAML, too. A value that does not exist is an error. No validation by the schema.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"
)

// The outermost map or list in lines, so that a template may put others before it.
func toYaml(v any) (string, error) {
	var lines []string

	add := func(begin string, v any) error {
		b, err := json.Marshal(v)
		lines = append(lines, begin+string(b))
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if err := add(key+": ", value); err != nil {
				return "", err
			}
		}
		sort.Strings(lines)
	case []any:
		for _, value := range v {
			if err := add("- ", value); err != nil {
				return "", err
			}
		}
	default:
		return "", fmt.Errorf("%v is no map or list", v)
	}
	return strings.Join(lines, "\n"), nil
}

func nindent(n int, text string) string {
	begin := "\n" + strings.Repeat(" ", n)
	return begin + strings.ReplaceAll(text, "\n", begin)
}

func quote(v any) (string, error) {
	b, err := json.Marshal(fmt.Sprint(v))
	return string(b), err
}

func list(v ...any) []any {
	return v
}

func orElse(other, v any) any {
	if v == nil || v == "" {
		return other
	}
	return v
}

func main() {
	var data map[string]any
	functions := template.FuncMap{"default": orElse, "list": list, "nindent": nindent, "quote": quote, "toYaml": toYaml}

	if err := json.NewDecoder(os.Stdin).Decode(&data); err != nil {
		log.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(os.Args[1], "templates", "*.yaml"))
	if len(paths) == 0 {
		log.Fatal("no templates in ", os.Args[1])
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		t := template.Must(template.New(path).Funcs(functions).Option("missingkey=error").Parse(string(text)))
		fmt.Println("---")
		if err := t.Execute(os.Stdout, data); err != nil {
			log.Fatal(err)
		}
		fmt.Println()
	}
}
