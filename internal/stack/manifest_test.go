package stack

import "testing"

func TestSatisfies(t *testing.T) {
	for _, tt := range []struct {
		version, wanted string
		want            bool
	}{
		{"1.2.3", "1.2.3", true},
		{"1.2.4", "1.2.3", false},
		{"1.9.0", "^1.2.3", true},
		{"2.0.0", "^1.2.3", false},
		{"1.2.2", "^1.2.3", false},
		{"0.2.9", "^0.2.3", true},
		{"0.3.0", "^0.2.3", false},
		{"0.0.4", "^0.0.3", false},
		{"1.2.9", "~1.2.3", true},
		{"1.3.0", "~1.2.3", false},
		{"1.9.9", "~1", true},
		{"1.5.0", "1.x", true},
		{"2.5.0", "1.x", false},
		{"7.0.0", "*", true},
		{"7.0.0", "", true},
		{"1.5.0", ">=1.2 <2", true},
		{"2.0.0", ">=1.2 <2", false},
		{"2.0.0", ">= 1.2", true},
		{"1.2.9", ">1.2", false},
		{"1.3.0", ">1.2", true},
		{"2.3.9", "1.0.0 - 2.3", true},
		{"2.4.0", "1.0.0 - 2.3", false},
		{"3.1.0", "^1 || ^3", true},
		{"2.1.0", "^1 || ^3", false},
		{"1.0.0", "latest", true},
		{"1.0.0", "file:x", true},
		{"2.0.0-rc.1", "^2.0.0", false},
		{"2.0.0-rc.1", "2.0.0-rc.1", true},
		{"none", "^1", false},
	} {
		if got := satisfiesRange(tt.version, tt.wanted); got != tt.want {
			t.Errorf("%s in %q: %t", tt.version, tt.wanted, got)
		}
	}
}

func FuzzSatisfies(f *testing.F) {
	f.Add("1.2.3", "^1.2 || >=3 <4")
	f.Fuzz(func(t *testing.T, version, wanted string) {
		if satisfiesRange(version, wanted) && !satisfiesRange(version, wanted) {
			t.Error(version, wanted)
		}
	})
}
