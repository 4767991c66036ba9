package webhookpost

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of what is signed.
const (
	Timestamp = "Nexus-Timestamp" // seconds since 1970
	Signature = "Nexus-Signature" // "v1=" and the HMAC-SHA256 in hexadecimal digits
	Delivery  = "Nexus-Delivery"  // the same for each try to deliver something
)

// MinSecret is the least length of a secret, in bytes.
const MinSecret = 16

// Direction says what is signed: no question can be sent back as an answer.
type Direction string

// The directions.
const (
	Question Direction = "question"
	Reply    Direction = "answer"
	Notice   Direction = "notice"
)

// Sign returns the signature of a body that is sent at a time.
func Sign(secret string, d Direction, at time.Time, body []byte) (stamp, signature string) {
	stamp = strconv.FormatInt(at.Unix(), 10)
	return stamp, "v1=" + hex.EncodeToString(sum(secret, d, stamp, body))
}

// SignedHeaders returns the headers of a body that is sent at a time, with the name of
// its delivery.
func SignedHeaders(secret string, d Direction, at time.Time, body []byte, delivery string) http.Header {
	stamp, signature := Sign(secret, d, at, body)
	h := http.Header{}
	h.Set(Timestamp, stamp)
	h.Set(Signature, signature)
	h.Set(Delivery, delivery)
	return h
}

func sum(secret string, d Direction, stamp string, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = m.Write([]byte(string(d) + "." + stamp + "."))
	_, _ = m.Write(body)
	return m.Sum(nil)
}

// Window is how far the clocks of both sides may be apart.
const Window = 5 * time.Minute

// Verify says why a body does not come from who has the secret, or not now.
// It takes as long whatever is wrong with the signature.
func Verify(secret string, d Direction, h http.Header, body []byte, now time.Time) error {
	stamp := h.Get(Timestamp)
	sent, err := hex.DecodeString(strings.TrimPrefix(h.Get(Signature), "v1="))
	if !hmac.Equal(sent, sum(secret, d, stamp, body)) || err != nil || !strings.HasPrefix(h.Get(Signature), "v1=") {
		return errors.New("the signature is missing or wrong")
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the timestamp is not a number of seconds")
	}
	if off := now.Sub(time.Unix(at, 0)); off > Window || off < -Window {
		return errors.New("the timestamp is more than five minutes off")
	}
	return nil
}
