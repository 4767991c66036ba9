package tool

import (
	"encoding/json"
	"testing"
)

const shapes = `{"type":"object","properties":{
	"tasks":{"type":"array","items":{"type":"object","properties":{
		"id":{"type":"string"},"title":{"type":"string","maxLength":5},"minutes":{"type":"integer"},"kind":{"enum":["code","docs"]},
		"ties":{"type":"object","additionalProperties":{"enum":["file"]}},
		"criteria":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"check":{"type":"string"}},"required":["text"],"additionalProperties":false}}},
		"required":["id","title"],"additionalProperties":false}},
	"risk":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},
	"free":{"type":"object"}},
	"required":["tasks"],"additionalProperties":false}`

// TestShaped puts a text into the one field that must be there, and changes nothing else.
func TestShaped(t *testing.T) {
	for in, want := range map[string]string{
		`{"risk":"it breaks"}`: `{"risk":{"text":"it breaks"}}`,
		`{"tasks":[{"id":"A","criteria":["it works",{"text":"x"}]}]}`: `{"tasks":[{"criteria":[{"text":"it works"},{"text":"x"}],"id":"A"}]}`,
		`{"tasks":["A"]}`:              `{"tasks":["A"]}`, // two fields must be there
		`{"free":"x"}`:                 `{"free":"x"}`,
		`{"risk":{"text":"x"}}`:        `{"risk":{"text":"x"}}`,
		`{"tasks":"x","other":["y"] }`: `{"tasks":"x","other":["y"] }`,
		`[1]`:                          `[1]`,
		`{`:                            `{`,
	} {
		if got := string(CoerceInputToSchema(json.RawMessage(shapes), json.RawMessage(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if _, err := FitInputToSchema(json.RawMessage(shapes), json.RawMessage(`{"tasks":[{"id":"A","title":"t","criteria":["it works"]}]}`)); err != nil {
		t.Errorf("a text is refused where it is the one thing that is asked for: %v", err)
	}
}

// TestSalvage keeps what has the form of the schema, and only that.
func TestSalvage(t *testing.T) {
	for in, want := range map[string]string{
		`{"tasks":[{"id":"A","title":"longer than five","odd":1,"minutes":"3","kind":"other","criteria":["x",{"check":1,"text":"y"},7]}],"more":true}`: `{"tasks":[{"criteria":[{"text":"x"},{"text":"y"}],"id":"A","title":"longer than five"}]}`,
		`{"tasks":[{"id":"A","minutes":3,"kind":"docs","ties":{"B":"file","C":"no"}},4]}`:                                                              `{"tasks":[{"id":"A","kind":"docs","minutes":3,"ties":{"B":"file"}}]}`,
		`{"tasks":{}}`: `{}`,
		`[]`:           ``,
		`{"a":`:        ``,
	} {
		if got := string(ValidPartOfInput(json.RawMessage(shapes), json.RawMessage(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// FuzzSalvage holds that what is kept can be kept again, whole.
func FuzzSalvage(f *testing.F) {
	f.Add([]byte(`{"tasks":[{"id":"A","title":"t","criteria":["x"]}],"risk":"r","free":null}`))
	f.Add([]byte(`{"tasks":[[{}],null,1e9,"\ud800"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := ValidPartOfInput(json.RawMessage(shapes), data)
		if once == nil {
			return
		}
		if again := ValidPartOfInput(json.RawMessage(shapes), once); string(again) != string(once) {
			t.Errorf("%s, then %s", once, again)
		}
		if shaped := CoerceInputToSchema(json.RawMessage(shapes), once); string(shaped) != string(once) {
			t.Errorf("%s is shaped to %s", once, shaped)
		}
	})
}
