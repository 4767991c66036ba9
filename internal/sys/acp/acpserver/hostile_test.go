package acpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// evil is what somebody wrote into a run who wants to be obeyed.
const evil = "\x1b[2J\x1b]52;c;aGk=\x07\u202etxt.exe\u2066\u009b31m\U000e0041\u200b\x00"

// exact are what an editor or a program has to get as it is: names of files, their texts,
// identifiers, words of the protocol, and what a person picks.
var exact = []string{
	"path", "oldText", "newText", "sessionId", "toolCallId", "optionId", "enum", "id", "kind", "status", "priority", "name of a command",
}

// look finds the texts of a message that are not as harmless as they should be.
func look(t *testing.T, method, key string, v any) (texts int) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if _, command := v["description"]; command && k == "name" {
				k = "name of a command"
			}
			texts += look(t, method, k, x)
		}
	case []any:
		for _, x := range v {
			texts += look(t, method, key, x)
		}
	case string:
		if slices.Contains(exact, key) {
			return 0
		}
		for i, r := range v {
			if sanitize.IsInvisibleAt(v, i) {
				t.Errorf("%s: %s has %q: %.80q", method, key, r, v)
				break
			}
		}
		if strings.Contains(v, "txt.exe") {
			return 1
		}
	}
	return texts
}

// sow fills a value with hostile text.
func sow(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(evil)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		sow(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			sow(v.Index(i))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(ContentBlock(evil)))
	case reflect.Struct:
		for i := range v.NumField() {
			sow(v.Field(i))
		}
	default:
	}
}

// TestNothingIsObeyed calls each method that tells a client something with hostile text in
// every argument, and looks at what is sent: the wire shows nothing that is hidden, and no
// text has any once it is read.
func TestNothingIsObeyed(t *testing.T) {
	gone, stop := context.WithCancelCause(t.Context())
	stop(errors.New("nobody answers"))
	client := reflect.TypeFor[*Client]()
	told := 0
	for i := range client.NumMethod() {
		method := client.Method(i)
		var wire bytes.Buffer
		l := newClientConnection(&wire, func(error) {})
		args := []reflect.Value{reflect.ValueOf(&Client{ID: "s", link: l, forms: true})}
		for n := 1; n < method.Type.NumIn(); n++ {
			in := method.Type.In(n)
			if in == reflect.TypeFor[context.Context]() {
				args = append(args, reflect.ValueOf(gone))
				continue
			}
			v := reflect.New(in).Elem()
			sow(v)
			args = append(args, v)
		}
		method.Func.Call(args)
		l.stopQueuing()
		l.writeQueuedMessages()
		for line := range strings.Lines(wire.String()) {
			for at, r := range strings.TrimRight(line, "\n") {
				if sanitize.IsInvisibleAt(line, at) {
					t.Errorf("%s sends %q", method.Name, r)
					break
				}
			}
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			told += look(t, method.Name, "", m["params"])
		}
	}
	var wire bytes.Buffer
	l := newClientConnection(&wire, func(error) {})
	l.sendAnswer(json.RawMessage("1"), nil, errors.New(evil))
	l.sendAnswer(json.RawMessage("2"), nil, &nexus.Error{Code: nexus.CodeInternal, Message: evil, Hint: evil})
	l.sendAnswer(json.RawMessage("3"), nil, &rpcRequestError{Code: codeParams, Message: evil})
	l.stopQueuing()
	l.writeQueuedMessages()
	for line := range strings.Lines(wire.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		told += look(t, "answer", "", m)
	}
	if told < 20 {
		t.Errorf("%d texts are told", told)
	}
}
