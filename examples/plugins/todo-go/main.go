// Command todo-go is a plugin for Nexus, in nothing but the standard library. It
// finds TODO comments as work to do, objects to changes that add some, and says
// that tasks about them are simple.
//
// See docs/extend.md for the protocol, and try it with nexus plugins test.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is what Nexus writes. Fields that this program does not know are left
// alone: a later Nexus may write more.
type line struct {
	Type     string          `json:"type"`
	Protocol int             `json:"protocol"`
	ID       int             `json:"id"`
	Kind     string          `json:"kind"`
	Input    json.RawMessage `json:"input"`
}

type reply map[string]any

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16) // a line with a large diff is longer: ReadBytes grows
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		data, err := in.ReadBytes('\n')
		if err != nil {
			return // Nexus has no more questions
		}
		var l line
		if err := json.Unmarshal(data, &l); err != nil {
			fmt.Fprintln(os.Stderr, "not a message:", err) // Nexus shows it: this ends without an answer
			return
		}
		if out.Encode(answer(l)) != nil {
			return // nobody reads it any more
		}
	}
}

// answer answers one line.
func answer(l line) reply {
	if l.Type == "hello" {
		return reply{
			"type": "hello", "protocol": 1, "name": "todo-go", "version": "1.0",
			"kinds": []string{"router", "reviewer", "discovery"},
		}
	}
	var output any
	var err error
	switch l.Kind {
	case "router":
		output, err = route(l.Input)
	case "reviewer":
		output, err = review(l.Input)
	case "discovery":
		output, err = discover(l.Input)
	default:
		err = fmt.Errorf("it is no %s", l.Kind)
	}
	if err != nil {
		return reply{"type": "error", "id": l.ID, "message": err.Error()}
	}
	return reply{"type": "answer", "id": l.ID, "output": output}
}

// route says that tasks about TODO comments are simple, and nothing of others.
func route(input json.RawMessage) (any, error) {
	var q struct {
		Task struct {
			Title string `json:"title"`
		} `json:"task"`
	}
	if err := json.Unmarshal(input, &q); err != nil {
		return nil, err
	}
	if !strings.Contains(q.Task.Title, "TODO") {
		return reply{}, nil
	}
	return reply{"complexity": "simple", "why": "it is about a TODO comment"}, nil
}

// finding is one that a reviewer has.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Quote    string `json:"quote"`
	Severity string `json:"severity"`
	Category string `json:"category"`
	Message  string `json:"message"`
	Advice   string `json:"advice"`
}

var todo = regexp.MustCompile(`(?://|#)\s*TODO\b.*`)

// review objects to lines with a TODO comment that a change adds. It reads
// the diff: lines that were there before are not the change's fault.
func review(input json.RawMessage) (any, error) {
	var q struct {
		Diff string `json:"diff"`
	}
	if err := json.Unmarshal(input, &q); err != nil {
		return nil, err
	}
	findings := []finding{}
	file, at := "", 0
	for text := range strings.Lines(q.Diff) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "+++ b/"):
			file = strings.TrimPrefix(text, "+++ b/")
		case strings.HasPrefix(text, "@@ "):
			_, after, _ := strings.Cut(text, " +")
			number, _, _ := strings.Cut(strings.Replace(after, " ", ",", 1), ",")
			at, _ = strconv.Atoi(number) // git wrote it
		case strings.HasPrefix(text, "+") && file != "":
			if m := todo.FindString(text); m != "" {
				findings = append(findings, finding{file, at, m, "minor", "todo", "The change adds a TODO comment.", "Do it, or leave it out."})
			}
			at++
		case strings.HasPrefix(text, " "):
			at++
		}
	}
	return reply{"summary": fmt.Sprintf("TODO comments that were added: %d", len(findings)), "findings": findings}, nil
}

// found is one thing to do.
type found struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Reason  string   `json:"reason"`
	Minutes int      `json:"minutes"`
	Files   []string `json:"files"`
	Check   string   `json:"check"`
}

// discover lists the files that have a TODO comment, one finding for each: its
// ID stays the same while lines move.
func discover(input json.RawMessage) (any, error) {
	var q struct {
		Tree string `json:"tree"`
		Most int    `json:"most"`
	}
	if err := json.Unmarshal(input, &q); err != nil {
		return nil, err
	}
	if q.Tree == "" {
		return nil, fmt.Errorf("the question names no tree")
	}
	all := []found{}
	err := filepath.WalkDir(q.Tree, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != q.Tree {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(q.Tree, name)
		if err != nil || !d.Type().IsRegular() || len(all) >= q.Most || !plain(rel) {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // what cannot be read has nothing to do
		}
		m := todo.FindString(string(data))
		if m == "" {
			return nil
		}
		rel = filepath.ToSlash(rel)
		all = append(all, found{
			ID: id(rel), Title: "Resolve the TODO comment in " + rel,
			Reason: seen(m[:min(len(m), 200)]), Minutes: 15, Files: []string{rel},
			Check: "! grep -qE '(//|#)[[:space:]]*TODO' " + rel,
		})
		return nil
	})
	return reply{"findings": all}, err
}

// id returns the ID of a file's finding, which no other file has: a/b-c.go and
// a-b/c.go differ in more than a dash.
func id(file string) string {
	return fmt.Sprintf("todo-%s-%08x", strings.ReplaceAll(file, "/", "-"), crc32.ChecksumIEEE([]byte(file)))
}

// seen returns a text as one line without characters that nobody sees, which
// Nexus refuses.
func seen(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, !unicode.IsPrint(r), unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		default:
			return r
		}
	}, text))
}

// plain reports whether a file's name needs no quotes in a shell.
func plain(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]{0,60}$`).MatchString(filepath.ToSlash(name)) && path.Ext(name) != ""
}
