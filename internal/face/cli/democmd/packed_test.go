package democmd

import (
	"bytes"
	"os"
	"testing"
)

// TestPacked holds that what the program has packed is what is written here.
func TestPacked(t *testing.T) {
	for _, name := range []string{"script.yaml", "genesisscript.yaml"} {
		want, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(unpack(name), want) {
			t.Errorf("packed/%s.gz is out of date, run make generate; %v", name, err)
		}
	}
}
