package secret

import "bytes"

// shape is how keys of one kind look: a prefix, and after it so many bytes of
// a class.
type shape struct {
	prefix string
	class  func(byte) bool
	least  int
	most   int  // 0: any number
	keep   bool // the prefix stays: it says what follows
	gap    bool // a few spaces, quotes and signs may stand between the two
	plain  bool // letters alone will do
}

// shapes are all of them, found by their first two bytes.
type shapes struct {
	pairs [1 << 10]uint64 // a bit for each pair of first bytes
	by    map[[2]byte][]shape
}

// pemPrefix begins a private key in its usual armour.
const pemPrefix = "-----BEGIN "

// newShapes returns the shapes of keys for models, clouds and forges that are
// told from other words with certainty. They are few on purpose: what is
// masked by mistake hinders the work.
func newShapes() *shapes {
	s := &shapes{by: map[[2]byte][]shape{}}
	add := func(x shape) {
		k := [2]byte{x.prefix[0], x.prefix[1]}
		n := int(k[0])<<8 | int(k[1])
		s.pairs[n>>6] |= 1 << (n & 63)
		s.by[k] = append(s.by[k], x)
	}
	for _, x := range []shape{
		{prefix: "sk-ant-", class: urlSafe, least: 20},
		{prefix: "sk-proj-", class: urlSafe, least: 20},
		{prefix: "sk-svcacct-", class: urlSafe, least: 20},
		{prefix: "sk-admin-", class: urlSafe, least: 20},
		{prefix: "sk-or-v1-", class: alnum, least: 32},
		{prefix: "sk-", class: alnum, least: 32},
		{prefix: "AIza", class: urlSafe, least: 35},
		{prefix: "ya29.", class: urlSafe, least: 20},
		{prefix: "gsk_", class: alnum, least: 40},
		{prefix: "xai-", class: alnum, least: 40},
		{prefix: "csk-", class: alnum, least: 40},
		{prefix: "pplx-", class: alnum, least: 40},
		{prefix: "nvapi-", class: urlSafe, least: 40},
		{prefix: "hf_", class: alnum, least: 34, plain: true},
		{prefix: "r8_", class: alnum, least: 37},
		{prefix: "AKIA", class: upper, least: 16, most: 16, plain: true},
		{prefix: "ASIA", class: upper, least: 16, most: 16, plain: true},
		{prefix: "aws_secret_access_key", class: base64, least: 40, most: 40, keep: true, gap: true, plain: true},
		{prefix: "AWS_SECRET_ACCESS_KEY", class: base64, least: 40, most: 40, keep: true, gap: true, plain: true},
		{prefix: "SecretAccessKey", class: base64, least: 40, most: 40, keep: true, gap: true, plain: true},
		{prefix: "ghp_", class: alnum, least: 36},
		{prefix: "gho_", class: alnum, least: 36},
		{prefix: "ghu_", class: alnum, least: 36},
		{prefix: "ghs_", class: alnum, least: 36},
		{prefix: "ghr_", class: alnum, least: 36},
		{prefix: "github_pat_", class: word, least: 22},
		{prefix: "glpat-", class: urlSafe, least: 20},
		{prefix: "npm_", class: alnum, least: 36},
		{prefix: "pypi-AgE", class: urlSafe, least: 50},
		{prefix: "xoxb-", class: urlSafe, least: 20},
		{prefix: "xoxp-", class: urlSafe, least: 20},
		{prefix: "xoxa-", class: urlSafe, least: 20},
		{prefix: "xapp-", class: urlSafe, least: 20},
		{prefix: "sk_live_", class: alnum, least: 20},
		{prefix: "rk_live_", class: alnum, least: 20},
		{prefix: "sk_test_", class: alnum, least: 20},
		{prefix: "dop_v1_", class: alnum, least: 60},
		{prefix: "SG.", class: dotted, least: 60},
		{prefix: "AGE-SECRET-KEY-1", class: upper, least: 50},
		{prefix: "Bearer ", class: token, least: 24, keep: true},
		{prefix: "bearer ", class: token, least: 24, keep: true},
		{prefix: "eyJ", class: dotted, least: 40}, // a JSON web token; see fits
		{prefix: pemPrefix},
	} {
		add(x)
	}
	return s
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func upper(c byte) bool   { return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' }
func word(c byte) bool    { return alnum(c) || c == '_' }
func urlSafe(c byte) bool { return word(c) || c == '-' }
func dotted(c byte) bool  { return urlSafe(c) || c == '.' }
func base64(c byte) bool  { return alnum(c) || c == '/' || c == '+' || c == '=' }
func token(c byte) bool   { return dotted(c) || base64(c) || c == '~' }

// find returns where data holds what has the shape of a key.
func (s *shapes) find(data []byte) []span {
	var spans []span
	for i := 0; i+1 < len(data); i++ {
		n := int(data[i])<<8 | int(data[i+1])
		if s.pairs[n>>6]&(1<<(n&63)) == 0 || !begins(data, i) {
			continue
		}
		for _, x := range s.by[[2]byte{data[i], data[i+1]}] {
			if !bytes.HasPrefix(data[i:], []byte(x.prefix)) {
				continue
			}
			if x.prefix == pemPrefix {
				found, end := armour(data, i)
				spans, i = append(spans, found...), max(i, end-1)
				break
			}
			if found, ok := x.match(data, i); ok {
				spans, i = append(spans, found), found.to-1
				break
			}
		}
	}
	return spans
}

// begins reports whether a word may begin at i.
func begins(data []byte, i int) bool {
	if i == 0 || !alnum(data[i-1]) {
		return true
	}
	for back := 2; back <= 6 && back <= i; back++ { // after an escape of JSON
		if data[i-back] == '\\' {
			return i-back+1+escaped(data, i-back+1) == i
		}
	}
	return false
}

// match returns the stretch that is to be masked of what begins at i.
func (x shape) match(data []byte, i int) (span, bool) {
	from := i + len(x.prefix)
	for n := 0; x.gap && n < 8 && from < len(data) && bytes.IndexByte([]byte(" \t\"'\\:=,>"), data[from]) >= 0; n++ {
		from++
	}
	to := from
	for to < len(data) && x.class(data[to]) {
		to++
	}
	for x.prefix == "eyJ" && to > from && data[to-1] == '.' { // the end of a sentence
		to--
	}
	key := data[from:to]
	if len(key) < x.least || x.most > 0 && len(key) > x.most || !x.fits(key) {
		return span{}, false
	}
	if !x.keep {
		from = i
	}
	return span{from, to}, true
}

// fits tells keys from what stands in for one in examples.
func (x shape) fits(key []byte) bool {
	if x.prefix == "eyJ" && (bytes.Count(key, []byte(".")) != 2 || !bytes.Contains(key, []byte(".eyJ"))) {
		return false
	}
	if bytes.HasSuffix(key, []byte("EXAMPLE")) || bytes.HasSuffix(key, []byte("EXAMPLEKEY")) {
		return false
	}
	var seen [256]bool
	distinct, digits := 0, 0
	for _, c := range key {
		if !seen[c] {
			seen[c] = true
			distinct++
		}
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return distinct >= 8 && (digits > 0 || x.plain)
}

const (
	armourBytes = 16 << 10 // of the longest private key
	armourGap   = 200      // bytes between the lines of a key, for what a listing puts there
)

// armour masks the lines of the private key whose armour begins at i, so that
// quotes, escapes and line numbers between them stay. The end of the armour
// may be cut off. It returns where it stopped.
func armour(data []byte, i int) (spans []span, end int) {
	head := data[i+len(pemPrefix) : min(len(data), i+len(pemPrefix)+60)]
	n := bytes.Index(head, []byte("-----"))
	if n < 0 || !bytes.Contains(head[:n], []byte("PRIVATE KEY")) {
		return nil, i
	}
	at := i + len(pemPrefix) + n + 5
	end = min(len(data), at+armourBytes)
	least := 32
	if n := bytes.Index(data[at:end], []byte("-----END ")); n >= 0 {
		end, least = at+n, 8
	}
	last := at
	for at < end && at-last <= armourGap {
		from := at + min(escaped(data, at), end-at)
		to := from
		for to < end && base64(data[to]) {
			to++
		}
		if to-from >= least {
			spans, last = append(spans, span{from, to}), to
		}
		at = max(to, from+1)
	}
	return spans, max(last, i)
}
