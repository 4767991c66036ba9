package sanitize_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// TestJSON holds that JSON stays the same value, and shows nothing that is hidden.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"plain \u4e16": "\"plain \u4e16\"", "a\u202eb\u009b1m": `"a\u202eb\u009b1m"`, "\U000e0041\x7f": `"\udb40\udc41\u007f"`, "\x1b\r\n": `"\u001b\r\n"`,
	} {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got := sanitize.EscapeJSON(data)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != text || string(got) != want {
			t.Errorf("%q is %s, want %s, and is read as %q, %v", text, got, want, back, err)
		}
	}
	if got := string(sanitize.EscapeJSON([]byte("{\r\n \"a\": \"\u2066\"\n}"))); strings.Contains(got, "\u2066") || !json.Valid([]byte(got)) {
		t.Errorf("%q", got)
	}
}
