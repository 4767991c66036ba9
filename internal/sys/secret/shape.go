package secret

import "bytes"

// shape describes keys of one kind: a prefix, followed by a number of bytes of a class.
type shape struct {
	prefix string
	class  func(byte) bool
	least  int
	most   int    // 0: no limit
	keep   bool   // the prefix is not masked: it names the key
	gap    bool   // a few spaces, quotes and signs may be between the two
	plain  bool   // letters alone are sufficient
	says   string // name for people, for a key that is certain and not public
}

// shapes are all shapes, indexed by their first two bytes.
type shapes struct {
	pairs [1 << 10]uint64 // a bit for each pair of first bytes
	by    map[[2]byte][]shape
}

// pemPrefix is the beginning of a private key in PEM form.
const pemPrefix = "-----BEGIN "

// newShapes returns the shapes of keys for models, clouds and forges that can be distinguished
// from other words with certainty. They are few on purpose: masking by mistake hinders the work.
func newShapes() *shapes {
	s := &shapes{by: map[[2]byte][]shape{}}
	add := func(x shape) {
		k := [2]byte{x.prefix[0], x.prefix[1]}
		n := int(k[0])<<8 | int(k[1])
		s.pairs[n>>6] |= 1 << (n & 63)
		s.by[k] = append(s.by[k], x)
	}
	for _, x := range []shape{
		{prefix: "sk-ant-", class: urlSafe, least: 20, says: "a key of Anthropic"},
		{prefix: "sk-proj-", class: urlSafe, least: 20, says: "a key of OpenAI"},
		{prefix: "sk-svcacct-", class: urlSafe, least: 20, says: "a key of OpenAI"},
		{prefix: "sk-admin-", class: urlSafe, least: 20, says: "a key of OpenAI"},
		{prefix: "sk-or-v1-", class: alnum, least: 32, says: "a key of OpenRouter"},
		{prefix: "sk-", class: alnum, least: 32},
		{prefix: "AIza", class: urlSafe, least: 35},
		{prefix: "ya29.", class: urlSafe, least: 20, says: "a token of Google"},
		{prefix: "gsk_", class: alnum, least: 40, says: "a key of Groq"},
		{prefix: "xai-", class: alnum, least: 40},
		{prefix: "csk-", class: alnum, least: 40},
		{prefix: "pplx-", class: alnum, least: 40},
		{prefix: "nvapi-", class: urlSafe, least: 40},
		{prefix: "hf_", class: alnum, least: 34, plain: true, says: "a token of Hugging Face"},
		{prefix: "r8_", class: alnum, least: 37},
		{prefix: "AKIA", class: upper, least: 16, most: 16, plain: true, says: "a key of AWS"},
		{prefix: "ASIA", class: upper, least: 16, most: 16, plain: true, says: "a key of AWS"},
		{prefix: "aws_secret_access_key", class: base64, least: 40, most: 40, keep: true, gap: true, plain: true, says: "a key of AWS"},
		{prefix: "AWS_SECRET_ACCESS_KEY", class: base64, least: 40, most: 40, keep: true, gap: true, plain: true, says: "a key of AWS"},
		{prefix: "SecretAccessKey", class: base64, least: 40, most: 40, keep: true, gap: true, plain: true, says: "a key of AWS"},
		{prefix: "ghp_", class: alnum, least: 36, says: "a token of GitHub"},
		{prefix: "gho_", class: alnum, least: 36, says: "a token of GitHub"},
		{prefix: "ghu_", class: alnum, least: 36, says: "a token of GitHub"},
		{prefix: "ghs_", class: alnum, least: 36, says: "a token of GitHub"},
		{prefix: "ghr_", class: alnum, least: 36, says: "a token of GitHub"},
		{prefix: "github_pat_", class: word, least: 22, says: "a token of GitHub"},
		{prefix: "glpat-", class: urlSafe, least: 20, says: "a token of GitLab"},
		{prefix: "npm_", class: alnum, least: 36, says: "a token of npm"},
		{prefix: "pypi-AgE", class: urlSafe, least: 50, says: "a token of PyPI"},
		{prefix: "xoxb-", class: urlSafe, least: 20, says: "a token of Slack"},
		{prefix: "xoxp-", class: urlSafe, least: 20, says: "a token of Slack"},
		{prefix: "xoxa-", class: urlSafe, least: 20, says: "a token of Slack"},
		{prefix: "xapp-", class: urlSafe, least: 20, says: "a token of Slack"},
		{prefix: "sk_live_", class: alnum, least: 20, says: "a key of Stripe"},
		{prefix: "rk_live_", class: alnum, least: 20, says: "a key of Stripe"},
		{prefix: "sk_test_", class: alnum, least: 20},
		{prefix: "dop_v1_", class: alnum, least: 60, says: "a token of DigitalOcean"},
		{prefix: "SG.", class: dotted, least: 60, says: "a key of SendGrid"},
		{prefix: "AGE-SECRET-KEY-1", class: upper, least: 50, says: "a private key of age"},
		{prefix: "Bearer ", class: token, least: 24, keep: true},
		{prefix: "bearer ", class: token, least: 24, keep: true},
		{prefix: "eyJ", class: dotted, least: 40}, // a JSON web token; see fits
		{prefix: "hooks.slack.com/services/T", class: base64, least: 30, says: "an address to post to in Slack"},
		{prefix: "AccountKey=", class: base64, least: 80, keep: true, says: "a key of Azure"},
		{prefix: "client-key-data", class: base64, least: 60, keep: true, gap: true, says: "a private key of Kubernetes"},
		{prefix: "_authToken=", class: token, least: 20, keep: true, says: "a token of a registry"},
		{prefix: pemPrefix, says: "a private key"},
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

// find returns the spans of data that have the shape of a key.
func (s *shapes) find(data []byte) []span {
	var spans []span
	s.each(data, func(_ shape, found []span) bool {
		spans = append(spans, found...)
		return true
	})
	return spans
}

// each calls found with the spans of each key in order, until it returns false.
func (s *shapes) each(data []byte, found func(x shape, at []span) bool) {
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
				at, end := maskArmour(data, i)
				if len(at) > 0 && !found(x, at) {
					return
				}
				i = max(i, end-1)
				break
			}
			if at, ok := x.match(data, i); ok {
				if !found(x, []span{at}) {
					return
				}
				i = at.to - 1
				break
			}
		}
	}
}

// begins reports whether a word may begin at i.
func begins(data []byte, i int) bool {
	if i == 0 || !alnum(data[i-1]) {
		return true
	}
	for back := 2; back <= 6 && back <= i; back++ { // after an escape in JSON
		if data[i-back] == '\\' {
			return i-back+1+escaped(data, i-back+1) == i
		}
	}
	return false
}

// match returns the span to mask for a key that begins at i.
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

// fits reports whether a key is real rather than a placeholder in an example.
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
	armourBytes = 16 << 10 // bytes of the longest private key
	armourGap   = 200      // bytes between the lines of a key, which a listing may insert
)

// maskArmour masks the lines of the PEM private key that begins at i, and leaves quotes, escapes
// and line numbers between them. The end of the key may be cut off. It returns the index at which
// it stopped.
func maskArmour(data []byte, i int) (spans []span, end int) {
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
