package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

const schema = `{"properties":{"name":{},"parts":{"items":{"properties":{"size":{},"any":{}}}}}}`

type value struct {
	Name  string `json:"name"`
	Parts []struct {
		Size int            `json:"size"`
		Any  map[string]any `json:"any"`
	} `json:"parts"`
}

func TestReadRefusesWhatReadersDiffer(t *testing.T) {
	cases := []struct {
		name, in string
		want     []string
	}{
		{"good", `{"name":"a","parts":[{"size":1,"any":{"x":{"x":2}}}]}`, nil},
		{"other case", `{"Name":"a"}`, []string{`line 1: unknown field "Name"; known there: name, parts`}},
		{"deep and twice", "{\"name\":\"a\",\n\"parts\":[{\"size\":1},\n{\"siez\":1,\"size\":2,\"size\":3}]}", []string{
			`line 3: unknown field "parts[1].siez"; known there: any, size`,
			`line 3: "parts[1].size" is given twice`,
		}},
		{"twice under any", `{"parts":[{"any":{"a":1,"a":2}}]}`, []string{`line 1: "parts[0].any.a" is given twice`}},
		{"escaped twice", `{"name":"a","\u006eame":"b"}`, []string{`line 1: "name" is given twice`}},
		{"type", "{\"parts\":[{\n\"size\":\"big\"}]}", []string{`line 2: "parts.size" is a string, which does not fit`}},
		{"cut", "{\"name\":\n", []string{"line 2: it ends too early"}},
		{"empty", "", []string{"line 1: it ends too early"}},
		{"more", `{"name":"a"} {}`, []string{"line 1: there is text after the end"}},
		{"not UTF-8", "{\"name\":\"\xff\"}", []string{"it is not UTF-8"}},
		{"deep", strings.Repeat(`{"name":`, 100), []string{"line 1: it is nested too deeply"}},
		{"syntax", "{\n\"name\": nope}", []string{"line 2: invalid character 'o' in literal null (expecting 'u')"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var v value
			if diff := cmp.Diff(c.want, agent.DecodeStrictly([]byte(c.in), []byte(schema), &v)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"name":"a","parts":[{"size":1}]}`))
	f.Add([]byte(`{"name":"a","name":[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v value
		if agent.DecodeStrictly(data, []byte(schema), &v) == nil && !json.Valid(data) {
			t.Errorf("%q was read", data)
		}
	})
}
