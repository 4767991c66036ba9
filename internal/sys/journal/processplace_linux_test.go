package journal

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 8675309 1 1"
	for _, c := range []struct {
		stat    string
		running bool
	}{
		{"42 (nexus) S" + rest, true},
		{"42 (evil) Z (name) R" + rest, true},
		{"42 (a) b) c) Z" + rest, false},
		{"42 (nexus) X" + rest, false},
	} {
		start, running, err := parseStat([]byte(c.stat))
		if start != 8675309 || running != c.running || err != nil {
			t.Errorf("%s: %d, %v, %v", c.stat, start, running, err)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte("1 () Z"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, stat []byte) {
		if start, running, err := parseStat(stat); err != nil && (running || start != 0) {
			t.Errorf("%q: %d, %v with %v", stat, start, running, err)
		}
	})
}
