package valuekind

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ByteSizeKind reads numbers of bytes, with an optional unit of K, M, G or T.
func ByteSizeKind() Kind {
	const pattern = `^[0-9]+[KMGT]?$`
	k := textKind(`size, such as "512M" or "2G"`, map[string]any{"pattern": pattern}, func(s string) (any, error) { return ParseByteSize(s) })
	read := k.Read
	k.Schema = map[string]any{"type": []string{"string", "integer"}, "pattern": pattern, "minimum": 0}
	k.Read = func(v any) (any, error) {
		if n, ok := v.(int64); ok && n >= 0 {
			return n, nil
		}
		return read(v)
	}
	return k
}

// ParseByteSize reads a number of bytes, with a unit of K, M, G or T.
func ParseByteSize(s string) (int64, error) {
	digits, shift := s, 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			digits, shift = s[:len(s)-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil || n < 0:
		return 0, ErrKind
	case n > math.MaxInt64>>shift:
		return 0, errors.New("is more than any machine has")
	default:
		return n << shift, nil
	}
}
