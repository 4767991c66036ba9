package secret

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Made up, and put together here so that no scanner takes them for real.
func keys() map[string]string {
	return map[string]string{
		"anthropic":  "sk-" + "ant-api03-Zq8vT2mK7xW4cR9bN1pL6sD3fG5hJ0yA-_uE8iO2",
		"openai":     "sk-" + "proj-Qw3rT7yU1iO5pA9sD2fG6hJ0kL4zX8cV",
		"openrouter": "sk-" + "or-v1-0123456789abcdef0123456789abcdef0123456789abcdef",
		"plain sk":   "sk-" + "4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
		"google":     "AI" + "zaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
		"aws":        "AK" + "IAQ7W3E9R5T1Y8U2I6",
		"github":     "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
		"slack":      "xo" + "xb-123456789012-abcdefGHIJ",
		"jwt":        "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
		"groq":       "gs" + "k_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0",
	}
}

func pem(line string) string {
	return "-----BEGIN RSA PRIVATE " + "KEY-----" + line + strings.Repeat("MIIEpAIBAAKCAQEA7d3f9", 3) + line + "Zm9vYmFyYmF6cXV4" + line + "-----END RSA PRIVATE " + "KEY-----"
}

func TestShapes(t *testing.T) {
	m := NewMasker(nil)
	for name, key := range keys() {
		for _, around := range []string{"%s", "key=%s&x", "export K=\"%s\"\n", "a\n%s\n", "see %s.", `{"t":"line\n%s\tend"}`, `{"k":"\u003c%s\u003e"}`} {
			text := fmt.Sprintf(around, key)
			got := m.MaskText(text)
			if strings.Contains(got, key) || strings.Contains(got, key[8:20]) || !strings.Contains(got, Mark) {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			if json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
				t.Errorf("%s: %q is no JSON", name, got)
			}
			if want := fmt.Sprintf(around, Mark); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
	for _, line := range []string{"\n", `\n`, "\n  12  ", "\" +\n\t\"", "\n+"} {
		got := m.MaskText("before " + pem(line) + " after")
		if strings.Contains(got, "MIIE") || strings.Contains(got, "Zm9v") || !strings.HasPrefix(got, "before -----BEGIN") || !strings.HasSuffix(got, "-----END RSA PRIVATE "+"KEY----- after") {
			t.Errorf("got %q", got)
		}
	}
	cut := pem("\n")[:70]
	if got := m.MaskText(cut); strings.Contains(got, "MIIE") {
		t.Errorf("a cut key is %q", got)
	}
	secret := "wJalr7UtnFEMI/K7MDENG/bPxRfiCYzz9Qk3LmNp"
	for _, form := range []string{"aws_secret_access_key = %s\n", `"SecretAccessKey": "%s"`, "AWS_SECRET_ACCESS_KEY=%s", "Authorization: Bearer %s"} {
		if got := m.MaskText(fmt.Sprintf(form, secret)); got != fmt.Sprintf(form, Mark) {
			t.Errorf("got %q", got)
		}
	}
}

// TestLookAlikes keeps what is no key: masking it would hinder the work.
func TestLookAlikes(t *testing.T) {
	m := NewMasker([]string{"ANTHROPIC_API_KEY=scripted", "HOME_KEY=/home/ada/key.pem", "LANG=en_US.UTF-8-and-more-of-it"})
	for _, text := range []string{
		"sk-ant-your-key-goes-right-here", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "task-force-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
		"AKIA" + "IOSFODNN7EXAMPLE", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7d3f9MIIEpAIBAAKCAQEA7d3f9MIIEpAIBAAKCAQEA\n-----END CERTIFICATE-----",
		"550e8400-e29b-41d4-a716-446655440000", "hf_hub_download", "Bearer ${TOKEN}", "npm_config_registry=https://registry.example.org",
		"a scripted model", "/home/ada/key.pem", "eyJhbGciOiJIUzI1NiJ9", "https://ada:pw@example.org/x", "en_US.UTF-8-and-more-of-it",
		"re := `-----BEGIN [A-Z ]*PRIVATE KEY-----`", "sk-ant-api03-...", "disk-usage", "skeleton",
	} {
		if got := m.MaskText(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestValues(t *testing.T) {
	const value = "vendor.8f2k/Qx77+plum=zebra&41kiwi"
	m := NewMasker([]string{"MY_LOCAL_TOKEN=" + value, "SHORT_KEY=ab1", "EDITOR=vim"})
	m.AddSecret("letters9")
	for _, x := range [][2]string{
		{"x" + value + "y", "x" + Mark + "y"},
		{"?k=vendor.8f2k%2FQx77%2Bplum%3Dzebra%2641kiwi", "?k=" + Mark},
		{`{"k":"vendor.8f2k/Qx77+plum=zebra\u002641kiwi"}`, `{"k":"` + Mark + `"}`},
		{"cut: " + value[:20], "cut: " + Mark},
		{value[10:] + " was cut", Mark + " was cut"},
		{value[:10] + " and little", value[:10] + " and little"},
		{"letters9 ab1 vim", Mark + " ab1 vim"},
	} {
		if got := m.MaskText(x[0]); got != x[1] {
			t.Errorf("%q became %q, not %q", x[0], got, x[1])
		}
	}
	m.AddSecret("nest.8f2k/Qx77+plum-zebra_41kiwi")
	for _, text := range []string{`{"a":"x\nest.8f2k/Qx77+plum-zebra_41kiwi"}`, `{"a":"x\\nest.8f2k/Qx77+plum-zebra_41kiwi"}`} {
		if got := m.MaskText(text); !json.Valid([]byte(got)) || strings.Contains(got, "est.8f2k") {
			t.Errorf("%s became %s", text, got)
		}
	}
	data := []byte("nothing here")
	if got := m.Mask(data); &got[0] != &data[0] {
		t.Error("what holds no key was copied")
	}
	var none *Masker
	none.AddSecret(value)
	if got := none.MaskText(keys()["anthropic"]); got != Mark {
		t.Errorf("nil masks nothing: %q", got)
	}
}

// FuzzMask holds the masker to its word: it never panics, is idempotent, keeps
// UTF-8 and JSON, leaves no key whole, and does not write into its input.
func FuzzMask(f *testing.F) {
	const value = "nest.8f2k/Qx77+plum-zebra_41kiwi"
	for _, key := range keys() {
		f.Add(key, 3, 1)
		f.Add("\\n"+key+"\\u00e4", 9, 2)
	}
	f.Add(pem(`\n`), 7, 3)
	f.Add("-----BEGIN PRIVATE KEY-----\\", 2, 0)
	f.Add("postgres://u:"+value+"@h?password=\"a1b2c3d4\\", 4, 1)
	f.Add(value[1:]+"\n"+value[:15], 1, 1)
	m := NewMasker([]string{"X_KEY=" + value})
	f.Fuzz(func(t *testing.T, text string, at, repeat int) {
		if len(text) > 1<<16 {
			return
		}
		at = min(max(at, 0), len(text))
		for range min(max(repeat, 0), 3) {
			text = text[:at] + value + text[at:]
		}
		before := strings.Clone(text)
		got := m.MaskText(text)
		if text != before {
			t.Fatal("the input was changed")
		}
		if strings.Contains(got, value) {
			t.Errorf("%q is left in %q", value, got)
		}
		if again := m.MaskText(got); again != got {
			t.Errorf("%q became %q", got, again)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is no UTF-8", got)
		}
		if quoted, err := json.Marshal(text); err == nil {
			if masked := m.Mask(quoted); !json.Valid(masked) {
				t.Errorf("%s became %s", quoted, masked)
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	m := NewMasker([]string{"A_KEY=" + keys()["anthropic"], "B_KEY=" + keys()["openai"]})
	data := []byte(strings.Repeat("func (s *Store) Put(data []byte) (hash string, err error) {\n\treturn s.keep(data), nil // as is\n}\n", 10_000))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		m.Mask(data)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		NewMasker(nil)
	}
}
