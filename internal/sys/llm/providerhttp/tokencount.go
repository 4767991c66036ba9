package providerhttp

import (
	"bytes"
	"math"
	"strconv"
)

// TokenCount is a number of tokens in a provider's JSON. Some providers write 7.0, 1e3 or "7", which
// must not make an answer fail. Invalid and negative numbers count as zero.
type TokenCount int64

// maxTokenCount is more tokens than any call has, and few enough for sums without overflow.
const maxTokenCount = 1e12

// UnmarshalJSON implements [json.Unmarshaler].
func (c *TokenCount) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseFloat(string(bytes.Trim(data, `"`)), 64)
	if *c = 0; err == nil && n > 0 {
		*c = TokenCount(math.Ceil(min(n, maxTokenCount)))
	}
	return nil
}
