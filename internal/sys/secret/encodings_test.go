package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// TestValuesInCode checks that a known key is masked where a program has
// written it in another way, alone and within a longer text.
func TestValuesInCode(t *testing.T) {
	for _, key := range []string{"hunter2-Zebra/42+", "k3y4", "0123456789abcdef0123456789abcdef", "pass word?&=1 and more"} {
		m := secret.NewMasker(nil)
		m.AddSecret(key)
		if len(key) < 8 {
			continue // too short to be told from other words
		}
		texts := map[string]string{
			"hex": hex.EncodeToString([]byte(key)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(key))),
			"query": url.QueryEscape(key), "path": url.PathEscape(key),
			"base64": base64.StdEncoding.EncodeToString([]byte(key)), "raw": base64.RawURLEncoding.EncodeToString([]byte(key)),
		}
		for name, text := range texts {
			if got := m.MaskText("x " + text + " y"); got != "x "+secret.Mark+" y" {
				t.Errorf("%s in %s: %s", key, name, got)
			}
		}
		for before := range 4 {
			for after := range 4 {
				text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("u", before) + key + strings.Repeat(":", after)))
				got := m.MaskText(text)
				left, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(got, secret.Mark, "AAAA"))
				if !strings.Contains(got, secret.Mark) || err == nil && strings.Contains(string(left), key[3:len(key)-3]) {
					t.Errorf("%s behind %d and before %d bytes: %s of %s", key, before, after, got, text)
				}
			}
		}
		var all strings.Builder
		for _, b := range []byte(key) {
			all.WriteString("%" + hex.EncodeToString([]byte{b}))
		}
		if got := m.MaskText(all.String()); got != secret.Mark {
			t.Errorf("%s in percent form: %s", key, got)
		}
	}
}
