package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// longestKey is the most bytes that OpenAI takes.
const longestKey = 64

// Key returns the name of requests that begin alike as a provider takes it,
// so that those that share a prefix reach the same machine. A name that is too
// long gives way to its hash.
func Key(family string) string {
	if len(family) <= longestKey {
		return family
	}
	sum := sha256.Sum256([]byte(family))
	return hex.EncodeToString(sum[:])
}
