package dependencies_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// wheel writes a package of Python with a module and a script.
func wheel(t *testing.T, name string) {
	t.Helper()
	var b, record bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
	}
	add("greet/__init__.py", "def hello():\n    return 'hello'\n\ndef main():\n    print(hello())\n")
	add("greet-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n")
	add("greet-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	add("greet-1.0.dist-info/entry_points.txt", "[console_scripts]\ngreet = greet:main\n")
	record.WriteString("greet-1.0.dist-info/RECORD,,\n")
	add("greet-1.0.dist-info/RECORD", record.String())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
