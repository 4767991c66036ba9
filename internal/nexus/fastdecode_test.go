package nexus

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// read decodes a fact with encoding/json alone.
func read(kind string, data []byte) (Fact, error) {
	v := reflect.New(types[kind])
	err := json.Unmarshal(data, v.Interface())
	f, _ := v.Elem().Interface().(Fact)
	return f, err
}

// usual are facts as journals have them most.
func usual() []Fact {
	return []Fact{
		TurnTaken{Session: "T1.1/coder.1", Turn: 3, Message: "ab12", Stop: "tools", Says: "I look at it"},
		ToolCalled{Session: "T1.1/coder.1", Call: "c1", Tool: "read_file", About: "a/b.go:3"},
		ToolAnswered{Session: "T1.1/coder.1", Call: "c1", Failed: true, Duration: time.Second, About: "package b", Over: "memory"},
		ToolsAnswered{Session: "T1.1/coder.1", Message: "ab12"},
		BudgetReserved{ID: "r1", Task: "T1", Session: "T1.1/coder.1", Role: Coder, Model: "p/m", Tier: Fast, Money: Dollar + 5, Tokens: 9},
		BudgetSpent{ID: "r1", Money: Dollar / 3, Usage: Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CacheHour: 5}, Estimated: true, Service: "flex"},
	}
}

// TestQuickReadsWhatIsUsual fails where the facts that make up most of a journal
// take the long way, and where the short one reads something else.
func TestQuickReadsWhatIsUsual(t *testing.T) {
	for _, f := range usual() {
		kind, data, err := EncodeFact(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := decodeFactFast(kind, data); !reflect.DeepEqual(got, f) {
			t.Errorf("%s: read %+v of %s", kind, got, data)
		}
	}
	for _, odd := range []string{
		``, `{`, `{}x`, `{"session":"a"`, `{"session":"a",}`, `{,"session":"a"}`, `{"session":"a""call":"b"}`, `{"session" :"a"}`, `{"Session":"a"}`, `{"session":null}`,
		`{"session":"\u0041"}`, "{\"session\":\"\xff\"}", `{"more":1}`, `{"more":`, `{"":"a"}`, `{"duration":01}`, `{"duration":-1}`, `{"duration":1.5}`, `{"duration":1e3}`,
		`{"duration":9223372036854775808}`, `{"failed":false}`, `{"failed":tru`, `{"judged":{"refused":true}}`,
	} {
		if f := decodeFactFast("tool.answered", []byte(odd)); f != nil {
			t.Errorf("%s was read as %+v", odd, f)
		}
	}
}

func FuzzQuick(f *testing.F) {
	for _, x := range usual() {
		kind, data, err := EncodeFact(x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, data)
	}
	f.Add("budget.spent", []byte(`{"usage":{"input":1},"usage":{"output":2},"money":0.5,"money":00.5}`))
	f.Add("budget.reserved", []byte(`{"money":1.,"tokens":0,"id":"","else":["a"]}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		got := decodeFactFast(kind, data)
		if got == nil {
			return
		}
		want, err := read(kind, data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s %q: read %+v, encoding/json reads %+v, %v", kind, data, got, want, err)
		}
	})
}
