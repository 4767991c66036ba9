package sandbox

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestKeeper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(2, 40).Draw(t, "limit")
		k := NewHeadTail(limit)
		var all []byte
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 50)).Draw(t, "writes") {
			all = append(all, p...)
			if n, err := k.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		kept, cut := k.Bytes()
		half := int(limit / 2)
		if len(all) <= 2*half {
			if cut || !bytes.Equal(kept, all) {
				t.Fatalf("kept %q of %q", kept, all)
			}
			return
		}
		if !cut || !bytes.HasPrefix(kept, all[:half]) || !bytes.HasSuffix(kept, all[len(all)-half:]) ||
			!bytes.Contains(kept, fmt.Appendf(nil, " %d bytes", len(all)-2*half)) {
			t.Fatalf("kept %q of %q", kept, all)
		}
	})
}
