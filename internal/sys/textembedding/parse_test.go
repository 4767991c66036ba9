package textembedding

import (
	"math"
	"testing"
)

// FuzzParse holds that what an endpoint answers is n usable vectors, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`), 1)
	f.Add([]byte(`{"embeddings":[[1e38,1e38],[0.1]]}`), 2)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		all, err := parseVectors(data, n)
		if err != nil {
			return
		}
		if len(all) != n {
			t.Fatalf("%d vectors for %d", len(all), n)
		}
		for _, v := range all {
			if near := CosineSimilarity(v, v); len(v) == 0 || math.IsNaN(near) || near < 0 || near > 1 {
				t.Errorf("%v is %v near itself", v, near)
			}
		}
	})
}
