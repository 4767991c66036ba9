package secret

import "bytes"

// keyShape describes keys of one kind: a prefix, followed by a number of bytes of a class.
type keyShape struct {
	prefix string
	class  func(byte) bool
	least  int
	most   int    // 0: no limit
	keep   bool   // the prefix is not masked: it names the key
	gap    bool   // a few spaces, quotes and signs may be between the two
	plain  bool   // letters alone are sufficient
	says   string // name for people, for a key that is certain and not public
}

// keyShapeIndex are all shapes, indexed by their first two bytes.
type keyShapeIndex struct {
	pairs [1 << 10]uint64 // a bit for each pair of first bytes
	by    map[[2]byte][]keyShape
}

// pemPrefix is the beginning of a private key in PEM form.
const pemPrefix = "-----BEGIN "

// newKeyShapeIndex returns the shapes of keys for models, clouds and forges that can be distinguished
// from other words with certainty. They are few on purpose: masking by mistake hinders the work.
func newKeyShapeIndex() *keyShapeIndex {
	s := &keyShapeIndex{by: map[[2]byte][]keyShape{}}
	add := func(x keyShape) {
		k := [2]byte{x.prefix[0], x.prefix[1]}
		n := int(k[0])<<8 | int(k[1])
		s.pairs[n>>6] |= 1 << (n & 63)
		s.by[k] = append(s.by[k], x)
	}
	for _, x := range []keyShape{
		{prefix: "sk-ant-", class: isURLSafeByte, least: 20, says: "a key of Anthropic"},
		{prefix: "sk-proj-", class: isURLSafeByte, least: 20, says: "a key of OpenAI"},
		{prefix: "sk-svcacct-", class: isURLSafeByte, least: 20, says: "a key of OpenAI"},
		{prefix: "sk-admin-", class: isURLSafeByte, least: 20, says: "a key of OpenAI"},
		{prefix: "sk-or-v1-", class: isAlnum, least: 32, says: "a key of OpenRouter"},
		{prefix: "sk-", class: isAlnum, least: 32},
		{prefix: "AIza", class: isURLSafeByte, least: 35},
		{prefix: "ya29.", class: isURLSafeByte, least: 20, says: "a token of Google"},
		{prefix: "gsk_", class: isAlnum, least: 40, says: "a key of Groq"},
		{prefix: "xai-", class: isAlnum, least: 40},
		{prefix: "csk-", class: isAlnum, least: 40},
		{prefix: "pplx-", class: isAlnum, least: 40},
		{prefix: "nvapi-", class: isURLSafeByte, least: 40},
		{prefix: "hf_", class: isAlnum, least: 34, plain: true, says: "a token of Hugging Face"},
		{prefix: "r8_", class: isAlnum, least: 37},
		{prefix: "AKIA", class: isUpperOrDigit, least: 16, most: 16, plain: true, says: "a key of AWS"},
		{prefix: "ASIA", class: isUpperOrDigit, least: 16, most: 16, plain: true, says: "a key of AWS"},
		{prefix: "aws_secret_access_key", class: isBase64Byte, least: 40, most: 40, keep: true, gap: true, plain: true, says: "a key of AWS"},
		{prefix: "AWS_SECRET_ACCESS_KEY", class: isBase64Byte, least: 40, most: 40, keep: true, gap: true, plain: true, says: "a key of AWS"},
		{prefix: "SecretAccessKey", class: isBase64Byte, least: 40, most: 40, keep: true, gap: true, plain: true, says: "a key of AWS"},
		{prefix: "ghp_", class: isAlnum, least: 36, says: "a token of GitHub"},
		{prefix: "gho_", class: isAlnum, least: 36, says: "a token of GitHub"},
		{prefix: "ghu_", class: isAlnum, least: 36, says: "a token of GitHub"},
		{prefix: "ghs_", class: isAlnum, least: 36, says: "a token of GitHub"},
		{prefix: "ghr_", class: isAlnum, least: 36, says: "a token of GitHub"},
		{prefix: "github_pat_", class: isWordByte, least: 22, says: "a token of GitHub"},
		{prefix: "glpat-", class: isURLSafeByte, least: 20, says: "a token of GitLab"},
		{prefix: "npm_", class: isAlnum, least: 36, says: "a token of npm"},
		{prefix: "pypi-AgE", class: isURLSafeByte, least: 50, says: "a token of PyPI"},
		{prefix: "xoxb-", class: isURLSafeByte, least: 20, says: "a token of Slack"},
		{prefix: "xoxp-", class: isURLSafeByte, least: 20, says: "a token of Slack"},
		{prefix: "xoxa-", class: isURLSafeByte, least: 20, says: "a token of Slack"},
		{prefix: "xapp-", class: isURLSafeByte, least: 20, says: "a token of Slack"},
		{prefix: "sk_live_", class: isAlnum, least: 20, says: "a key of Stripe"},
		{prefix: "rk_live_", class: isAlnum, least: 20, says: "a key of Stripe"},
		{prefix: "sk_test_", class: isAlnum, least: 20},
		{prefix: "dop_v1_", class: isAlnum, least: 60, says: "a token of DigitalOcean"},
		{prefix: "SG.", class: isDottedByte, least: 60, says: "a key of SendGrid"},
		{prefix: "AGE-SECRET-KEY-1", class: isUpperOrDigit, least: 50, says: "a private key of age"},
		{prefix: "Bearer ", class: isTokenByte, least: 24, keep: true},
		{prefix: "bearer ", class: isTokenByte, least: 24, keep: true},
		{prefix: "eyJ", class: isDottedByte, least: 40}, // a JSON web token; see fits
		{prefix: "hooks.slack.com/services/T", class: isBase64Byte, least: 30, says: "an address to post to in Slack"},
		{prefix: "AccountKey=", class: isBase64Byte, least: 80, keep: true, says: "a key of Azure"},
		{prefix: "client-key-data", class: isBase64Byte, least: 60, keep: true, gap: true, says: "a private key of Kubernetes"},
		{prefix: "_authToken=", class: isTokenByte, least: 20, keep: true, says: "a token of a registry"},
		{prefix: pemPrefix, says: "a private key"},
	} {
		add(x)
	}
	return s
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func isUpperOrDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' }
func isWordByte(c byte) bool     { return isAlnum(c) || c == '_' }
func isURLSafeByte(c byte) bool  { return isWordByte(c) || c == '-' }
func isDottedByte(c byte) bool   { return isURLSafeByte(c) || c == '.' }
func isBase64Byte(c byte) bool   { return isAlnum(c) || c == '/' || c == '+' || c == '=' }
func isTokenByte(c byte) bool    { return isDottedByte(c) || isBase64Byte(c) || c == '~' }

// findKeys returns the spans of data that have the shape of a key.
func (s *keyShapeIndex) findKeys(data []byte) []byteSpan {
	var spans []byteSpan
	s.eachMatch(data, func(_ keyShape, found []byteSpan) bool {
		spans = append(spans, found...)
		return true
	})
	return spans
}

// eachMatch calls found with the spans of each key in order, until it returns false.
func (s *keyShapeIndex) eachMatch(data []byte, found func(x keyShape, at []byteSpan) bool) {
	for i := 0; i+1 < len(data); i++ {
		n := int(data[i])<<8 | int(data[i+1])
		if s.pairs[n>>6]&(1<<(n&63)) == 0 || !isWordStart(data, i) {
			continue
		}
		for _, x := range s.by[[2]byte{data[i], data[i+1]}] {
			if !bytes.HasPrefix(data[i:], []byte(x.prefix)) {
				continue
			}
			if x.prefix == pemPrefix {
				at, end := maskPrivateKey(data, i)
				if len(at) > 0 && !found(x, at) {
					return
				}
				i = max(i, end-1)
				break
			}
			if at, ok := x.matchAt(data, i); ok {
				if !found(x, []byteSpan{at}) {
					return
				}
				i = at.to - 1
				break
			}
		}
	}
}

// isWordStart reports whether a word may begin at i.
func isWordStart(data []byte, i int) bool {
	if i == 0 || !isAlnum(data[i-1]) {
		return true
	}
	for back := 2; back <= 6 && back <= i; back++ { // after an escape in JSON
		if data[i-back] == '\\' {
			return i-back+1+escapeLength(data, i-back+1) == i
		}
	}
	return false
}

// matchAt returns the span to mask for a key that begins at i.
func (x keyShape) matchAt(data []byte, i int) (byteSpan, bool) {
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
	if len(key) < x.least || x.most > 0 && len(key) > x.most || !x.isRealKey(key) {
		return byteSpan{}, false
	}
	if !x.keep {
		from = i
	}
	return byteSpan{from, to}, true
}

// isRealKey reports whether a key is real rather than a placeholder in an example.
func (x keyShape) isRealKey(key []byte) bool {
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
	armourBytes = 16 << 10 // bytes of the longest private key
	armourGap   = 200      // bytes between the lines of a key, which a listing may insert
)

// maskPrivateKey masks the lines of the PEM private key that begins at i, and leaves quotes, escapes
// and line numbers between them. The end of the key may be cut off. It returns the index at which
// it stopped.
func maskPrivateKey(data []byte, i int) (spans []byteSpan, end int) {
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
		from := at + min(escapeLength(data, at), end-at)
		to := from
		for to < end && isBase64Byte(data[to]) {
			to++
		}
		if to-from >= least {
			spans, last = append(spans, byteSpan{from, to}), to
		}
		at = max(to, from+1)
	}
	return spans, max(last, i)
}
