package stream_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// TestSamples reads streams as programs print them: testdata/README.md says where
// each is from, and the names say how it ended, whatever the exit code was.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*-*.*")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		format, fault, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "-")
		if fault == "ok" {
			fault = ""
		}
		for exit := range 2 {
			if exit == 1 && format == "aider" {
				continue // its exit code is all there is for the rest
			}
			all, end := decode(format, string(data), exit, "")
			if end.Fault != nexus.AgentProgramFault(fault) || fault == "" && !strings.Contains(end.Text, "done") && format != "aider" || fault != "" && end.Why == "" {
				t.Errorf("%s, exit %d: %q (%s), said %q", file, exit, end.Fault, end.Why, end.Text)
			}
			if len(all) == 0 || all[0].Kind != stream.ConversationOpened {
				t.Errorf("%s opens no conversation: %+v", file, all)
			}
		}
		// a stream that breaks off has no end, and none that says nothing
		if format != "aider" {
			lines := strings.SplitAfter(strings.TrimSpace(string(data)), "\n")
			if _, end := decode(format, strings.Join(lines[:len(lines)-1], "")+`{"type":"`, 0, ""); end.Fault == "" {
				t.Errorf("%s: done without an end", file)
			}
		}
	}
}

// TestSampleEvents holds what is heard of an agent that looks, runs a command and
// is done.
func TestSampleEvents(t *testing.T) {
	calls := map[string]stream.AgentToolCall{
		"amp":     {ID: "toolu_1", Tool: "Bash", Input: json.RawMessage(`{"cmd":"cat a.txt"}`)},
		"copilot": {ID: "call_663437af_0_0", Tool: "bash", Input: json.RawMessage(`{"command":"echo hi > a.txt; cat a.txt","description":"Write"}`)},
		"goose":   {ID: "call_1", Tool: "developer__shell", Input: json.RawMessage(`{"command":"cat a.txt"}`)},
	}
	usage := map[string]nexus.Usage{
		"aider": {Input: 4712, CacheRead: 1100, Output: 99}, "amp": {Input: 15, Output: 47, CacheRead: 900, CacheWrite: 900},
	}
	for _, format := range []string{"aider", "amp", "copilot", "goose"} {
		files, _ := filepath.Glob("testdata/" + format + "-ok.*")
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		all, end := decode(format, string(data), 0, "")
		if end.Usage != usage[format] {
			t.Errorf("%s: used %+v", format, end.Usage)
		}
		if format == "aider" {
			if end.Money != 3*nexus.Dollar/100 {
				t.Errorf("aider cost %d", end.Money)
			}
			continue
		}
		said, answered, failed := []string{}, 0, 0
		var heard []stream.AgentToolCall
		for _, e := range all {
			if e.Kind == stream.MessageSaid && e.Text != "" {
				said = append(said, e.Text)
			}
			if e.Kind == stream.CallAnswered {
				if answered++; e.Failed {
					failed++
				}
				if answered == 1 && !strings.HasPrefix(e.Text, "hi") {
					t.Errorf("%s: answered %q", format, e.Text)
				}
			}
			heard = append(heard, e.Calls...)
		}
		if d := cmp.Diff([]string{"I look.", "All done."}, said); d != "" {
			t.Errorf("%s: %s", format, d)
		}
		if len(heard) == 0 || cmp.Diff(calls[format], heard[0]) != "" || answered != len(heard) || failed != len(heard)-1 {
			t.Errorf("%s: %+v, %d answered, %d failed", format, heard, answered, failed)
		}
	}
}
