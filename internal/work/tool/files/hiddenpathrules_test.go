package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// made puts a token together that nobody has, so that no scanner finds one here.
var made = "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"

func TestLook(t *testing.T) {
	pem := "-----BEGIN PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7d3f9", 3) + "\n-----END PRIVATE " + "KEY-----\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		// Hidden, by name.
		"config/credentials.json": `{"api_key":"qx77plumzebra41"}`, ".env": "PORT=1\nSESSION_SECRET=qx77plumzebra42\n", "deploy/.env.production": "DATABASE_URL=postgres://a:kiwiplum9@db/x\n", ".npmrc": "//r.example.org/:_authToken=" + made + "\n",
		".netrc": "x", "id_rsa": "x", "infra/terraform.tfvars": "a = 1", "infra/prod.tfstate": "{}", "deploy/kubeconfig": "x", "home/.docker/config.json": "{}", "a/service-account.json": "{}", "app-firebase-adminsdk-x1.json": "{}", "certs/server.key": "x",
		// By what is in it.
		"settings.yaml": "a: 1\ntoken: " + made, "certs/both.pem": pem, "sa.json": `{"private_key":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, "NOTES": made,
		// Kept from agents.
		".nexusignore": "kept/\n", "kept/a": "a", "kept/b.json": made,
		// Not hidden.
		".env.example": "SESSION_SECRET=qx77plumzebra43\n", "config/credentials.example.json": `{"api_key":"your-key"}`, "web/.env": "PORT=3000\nVITE_URL=http://localhost:3000\n", "web/.npmrc": "engine-strict=true\n",
		"tests/fixtures/server.key": pem, "pkg/testdata/credentials.json": `{"api_key":"qx77plumzebra44"}`, "testdata/token.json": made, "src/credentials.go": "package src // " + made, "README.md": made, "certs/ca.crt": "-----BEGIN CERTIFICATE-----\n" + strings.Repeat("MIIE", 30),
		"package-lock.json": made, "Makefile": made, "google-services.json": "AI" + "zaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "policy.json": `{"re":"-----BEGIN PRIVATE KEY-----"}`,
		// Let be seen.
		"shown/credentials.json": `{"api_key":"qx77plumzebra45"}`, "open/a.yaml": made,
		".git/config": made,
	} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	r := HiddenPathRules{Show: []string{"shown", "open/*.yaml"}}
	found := r.FindHidden(root)
	var got []string
	for _, f := range found.Files {
		got = append(got, f.Name)
	}
	slices.Sort(got)
	want := []string{
		".env", ".netrc", ".npmrc", "NOTES", "a/service-account.json", "app-firebase-adminsdk-x1.json", "certs/both.pem", "certs/server.key", "config/credentials.json", "deploy/.env.production", "deploy/kubeconfig",
		"home/.docker/config.json", "id_rsa", "infra/prod.tfstate", "infra/terraform.tfvars", "kept", "sa.json", "settings.yaml",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, v := range []string{"qx77plumzebra41", "qx77plumzebra42"} {
		if !slices.Contains(found.Values, v) {
			t.Errorf("%s is not among %q", v, found.Values)
		}
	}
	for _, name := range []string{"settings.yaml", "README.md"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		why := r.Read(name, f, 100)
		if at, _ := f.Seek(0, 1); (why == "line 2 holds a token of GitHub") != (name == "settings.yaml") || at != 0 {
			t.Errorf("%s: %q, at %d", name, why, at)
		}
		_ = f.Close()
	}
}

func TestSays(t *testing.T) {
	for _, f := range []HiddenFile{{"a/.env", byName}, {"b", "line 1 holds a private key"}} {
		if s := f.String(); !strings.Contains(s, f.Name) || !strings.Contains(s, f.Why) || !strings.Contains(s, `policy.show = ["`+f.Name+`"]`) {
			t.Error(s)
		}
	}
	if s := (HiddenFile{"kept", WhyIgnored}).String(); strings.Contains(s, "policy.show") {
		t.Error(s)
	}
}
