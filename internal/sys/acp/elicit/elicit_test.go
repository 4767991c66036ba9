package elicit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/acp/elicit"
)

func form(properties, required string) string {
	return `{"mode":"form","message":"Tell me.","requestedSchema":{"type":"object","properties":` + properties + `,"required":` + required + `}}`
}

// TestText holds what a person reads.
func TestText(t *testing.T) {
	t.Parallel()
	for want, params := range map[string]string{
		"Go on?\nAnswer yes, or decline, or cancel.": `{"message":" Go on?\n"}`,
		"Tell me.\nTests: Run them all\nAnswer with yes or no (default no), or decline, or cancel. Answer defaults to take all defaults.": form(
			`{"all":{"type":"boolean","default":false,"title":"Tests","description":"Run them all"}}`, `["all"]`),
		"Tell me.\n- b: one of: r (Red), g\n- a: a number from 0.5 to 2 (may be left out)\n- c: one or more of these, with commas: x, y (a list of at most 1 values) (default x)\n" +
			"Answer with NAME=VALUE for each, with a semicolon between them, or with a JSON object, or decline, or cancel.": form(
			`{"c":{"type":"array","items":{"enum":["x","y"]},"maxItems":1,"default":["x"]},"a":{"type":"number","minimum":0.5,"maximum":2},"odd":{"type":"object"},`+
				`"b":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"g"}]}}`, `["b"]`),
	} {
		r, err := elicit.ReadRequest([]byte(params))
		if err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		if d := cmp.Diff(want, r.QuestionText()); d != "" {
			t.Error(d)
		}
	}
}

// TestReply holds how an answer is read, and which does not fit.
func TestReply(t *testing.T) {
	t.Parallel()
	text := func(more string) string { return form(`{"a":{"type":"string"`+more+`}}`, `["a"]`) }
	const unfit = "unfit"
	for _, c := range []struct{ params, answer, want string }{
		{text(""), "any words; all = of them", `{"a":"any words; all = of them"}`},
		{text(""), "a= word ", `{"a":"word"}`},
		{text(""), `{"a":"decline"}`, `{"a":"decline"}`},
		{text(""), `{"a":1}`, unfit},
		{text(""), `{"a":"x","b":1}`, unfit},
		{text(""), `{"a":"x"} {}`, unfit},
		{text(""), `{"a":`, unfit},
		{text(""), `{}`, unfit},
		{text(""), "", unfit},
		{text(""), "defaults", `{"a":"defaults"}`},
		{text(`,"default":"x"`), "defaults", `{"a":"x"}`},
		{text(`,"default":7`), "defaults", `{"a":"defaults"}`},
		{text(`,"minLength":2,"maxLength":3`), "é", unfit},
		{text(`,"minLength":2,"maxLength":3`), "éßx", `{"a":"éßx"}`},
		{text(`,"pattern":"^v[0-9]+$"`), "v12", `{"a":"v12"}`},
		{text(`,"pattern":"^v[0-9]+$"`), "12", unfit},
		{text(`,"pattern":"(?<=x)"`), "12", `{"a":"12"}`},
		{text(`,"format":"email"`), "me", unfit},
		{text(`,"format":"uri"`), "example.com", unfit},
		{text(`,"format":"uri"`), "https://example.com", `{"a":"https://example.com"}`},
		{text(`,"format":"date"`), "2026-02-30", unfit},
		{text(`,"format":"date-time"`), "2026-02-03T04:05:06Z", `{"a":"2026-02-03T04:05:06Z"}`},
		{text(`,"enum":["One","Two"]`), "two", `{"a":"Two"}`},
		{text(`,"enum":["One","Two"]`), "three", unfit},
		{form(`{"a":{"type":"integer","maximum":5}}`, `["a"]`), "5", `{"a":5}`},
		{form(`{"a":{"type":"integer","maximum":5}}`, `["a"]`), "5.5", unfit},
		{form(`{"a":{"type":"integer","maximum":5}}`, `["a"]`), "6", unfit},
		{form(`{"a":{"type":"integer"}}`, `["a"]`), "9007199254740993", `{"a":9007199254740993}`},
		{form(`{"a":{"type":"integer"}}`, `["a"]`), "1e400", unfit},
		{form(`{"a":{"type":"number"}}`, `["a"]`), "NaN", unfit},
		{form(`{"a":{"type":"number"}}`, `["a"]`), `{"a":2.5}`, `{"a":2.5}`},
		{form(`{"a":{"type":"number"}}`, `["a"]`), `{"a":"2.5"}`, unfit},
		{form(`{"a":{"type":"boolean"}}`, `["a"]`), "Yes", `{"a":true}`},
		{form(`{"a":{"type":"boolean"}}`, `["a"]`), "perhaps", unfit},
		{form(`{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"Ex"},{"const":"y"}]},"minItems":2}}`, `["a"]`), "ex, y, x", `{"a":["x","y"]}`},
		{form(`{"a":{"type":"array","items":{"enum":["x","y"]},"minItems":2}}`, `["a"]`), "x", unfit},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"string"}}`, `["b"]`), "b=x", `{"a":3,"b":"x"}`},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"string"}}`, `["b"]`), "b=x;a=", `{"a":3,"b":"x"}`},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"string"}}`, `["b"]`), "b=x\na=4", `{"a":4,"b":"x"}`},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"string"}}`, `["b"]`), "a=4", unfit},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"string"}}`, `["b"]`), "b=x;b=y", unfit},
		{form(`{"a":{"type":"integer"},"b":{"type":"string"}}`, `["b"]`), "b=; a=4", `{"a":4,"b":""}`},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"string"}}`, `["b"]`), "x", unfit},
		{form(`{"a":{"type":"integer","default":3},"b":{"type":"integer","default":4}}`, `["b"]`), "defaults", `{"a":3,"b":4}`},
		{`{"message":"x"}`, "yes", "accept"},
		{`{"message":"x"}`, "no", "decline"},
		{`{"message":"x"}`, "CANCEL", "cancel"},
		{`{"message":"x"}`, "blue", unfit},
		{`{"message":"x","mode":"url","url":"http://localhost:1/x"}`, "Done!", "accept"},
	} {
		r, err := elicit.ReadRequest([]byte(c.params))
		if err != nil {
			t.Errorf("%s: %v", c.params, err)
			continue
		}
		got, err := r.ParseAnswer(c.answer)
		said := got.Action
		if len(got.Content) > 0 {
			data, _ := json.Marshal(got.Content)
			said = string(data)
		}
		if err != nil {
			said = unfit
		}
		if said != c.want {
			t.Errorf("%s\nanswer %q: %s (%v), want %s", c.params, c.answer, said, err, c.want)
		}
	}
}

// TestUnasked holds for which requests no person is asked.
func TestUnasked(t *testing.T) {
	t.Parallel()
	field := func(name, more string) string { return form(`{"`+name+`":{"type":"string"`+more+`}}`, "[]") }
	for params, why := range map[string]string{
		`[]`:                  "cannot be read",
		`{"message":" "}`:     "has no text",
		field("password", ""): "secrets", field("GithubToken", ""): "secrets", field("x", `,"format":"password"`): "secrets",
		field("x", `,"writeOnly":true`): "secrets", field("x", `,"title":"Your API key"`): "secrets", field("private_key", ""): "secrets",
		`{"message":"x","mode":"voice"}`:                                  "mode",
		`{"message":"x","requestedSchema":[]}`:                            "cannot be read",
		form(`{"a b":{"type":"string"}}`, `["a b"]`):                      "typed",
		form(`{}`, `["a"]`):                                               "cannot be read",
		form(`{"a":{"type":"array","items":{"type":"string"}}}`, `["a"]`): "no values",
		`{"message":"x","mode":"url","url":"javascript:alert(1)"}`:        "not a web address",
		`{"message":"x","mode":"url","url":"https://a@b/"}`:               "hides",
		`{"message":"x","mode":"url","url":"https://b/\u202e"}`:           "cannot be read",
		`{"message":"x","mode":"url","url":"https://b/ c"}`:               "cannot be read",
		`{"message":"x","mode":"url","url":"https:///c"}`:                 "not a web address",
	} {
		if _, err := elicit.ReadRequest([]byte(params)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", params, err, why)
		}
	}
	for _, params := range []string{field("tokenizer", ""), field("keyboard", ""), form(`{"max_tokens":{"type":"integer"}}`, "[]"), field("token", `,"enum":["a"]`)} {
		if _, err := elicit.ReadRequest([]byte(params)); err != nil {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// FuzzReply holds that any request and answer are read or refused, that the
// question stays short, and that what is accepted has no field that was not asked for.
func FuzzReply(f *testing.F) {
	f.Add(form(`{"a":{"type":"integer","default":3},"b":{"type":"string","enum":["x"]}}`, `["b"]`), "b=x;a=4")
	f.Add(form(`{"a":{"type":"array","items":{"enum":["x","y"]},"minItems":1}}`, `["a"]`), `{"a":["x"]}`)
	f.Add(`{"mode":"url","url":"https://example.com/a?b#c","message":"x"}`, "done")
	f.Add(form(`{"a":{"type":"string","pattern":"[","minLength":-1e300}}`, `["a","a"]`), "\xff")
	f.Fuzz(func(t *testing.T, params, answer string) {
		r, err := elicit.ReadRequest([]byte(params))
		if err != nil {
			return
		}
		text := r.QuestionText()
		if !utf8.ValidString(text) || text != r.QuestionText() || len(text) > 40_000 {
			t.Errorf("%d bytes of text: %.100q", len(text), text)
		}
		reply, err := r.ParseAnswer(answer)
		if err != nil {
			if reply.Action != "" {
				t.Errorf("%+v with %v", reply, err)
			}
			return
		}
		if reply.Action != elicit.Accept && len(reply.Content) > 0 {
			t.Errorf("%+v", reply)
		}
		for name := range reply.Content {
			if !strings.Contains(text, name) && !strings.Contains(params, name) {
				t.Errorf("%s is in the reply", name)
			}
		}
		if _, err := json.Marshal(reply); err != nil {
			t.Error(err)
		}
	})
}
