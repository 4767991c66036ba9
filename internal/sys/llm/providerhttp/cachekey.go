package providerhttp

import (
	"crypto/sha256"
	"encoding/hex"
)

// longestKey is OpenAI's limit, in bytes.
const longestKey = 64

// CacheKey returns the cache key for requests that begin alike, so that those with a common prefix
// reach the same machine. A name that is too long is replaced by its hash.
func CacheKey(family string) string {
	if len(family) <= longestKey {
		return family
	}
	sum := sha256.Sum256([]byte(family))
	return hex.EncodeToString(sum[:])
}
