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

// The headers of a signed message.
const (
	TimestampHeader = "Nexus-Timestamp" // seconds since 1970
	SignatureHeader = "Nexus-Signature" // "v1=" and the HMAC-SHA256 in hexadecimal digits
	DeliveryHeader  = "Nexus-Delivery"  // the same for each attempt of a delivery
)

// MinSecret is the minimum length of a secret, in bytes.
const MinSecret = 16

// SignedDirection is part of the signed text, so that no question can be sent back as an answer.
type SignedDirection string

// The directions of signed messages.
const (
	DirectionQuestion SignedDirection = "question"
	DirectionAnswer   SignedDirection = "answer"
	DirectionNotice   SignedDirection = "notice"
)

// SignBody returns the timestamp and the signature of a body that is sent at a time.
func SignBody(secret string, d SignedDirection, at time.Time, body []byte) (stamp, signature string) {
	stamp = strconv.FormatInt(at.Unix(), 10)
	return stamp, "v1=" + hex.EncodeToString(computeMAC(secret, d, stamp, body))
}

// SignedHeaders returns the headers of a body that is sent at a time, with the ID of its delivery.
func SignedHeaders(secret string, d SignedDirection, at time.Time, body []byte, delivery string) http.Header {
	stamp, signature := SignBody(secret, d, at, body)
	h := http.Header{}
	h.Set(TimestampHeader, stamp)
	h.Set(SignatureHeader, signature)
	h.Set(DeliveryHeader, delivery)
	return h
}

func computeMAC(secret string, d SignedDirection, stamp string, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = m.Write([]byte(string(d) + "." + stamp + "."))
	_, _ = m.Write(body)
	return m.Sum(nil)
}

// SignatureWindow is the permitted difference between the clocks of both sides.
const SignatureWindow = 5 * time.Minute

// VerifySignature returns an error unless a body was sent by an owner of the secret, within the time
// window. Its duration does not depend on the position of a wrong byte in the signature.
func VerifySignature(secret string, d SignedDirection, h http.Header, body []byte, now time.Time) error {
	stamp := h.Get(TimestampHeader)
	sent, err := hex.DecodeString(strings.TrimPrefix(h.Get(SignatureHeader), "v1="))
	if !hmac.Equal(sent, computeMAC(secret, d, stamp, body)) || err != nil || !strings.HasPrefix(h.Get(SignatureHeader), "v1=") {
		return errors.New("the signature is missing or wrong")
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the timestamp is not a number of seconds")
	}
	if off := now.Sub(time.Unix(at, 0)); off > SignatureWindow || off < -SignatureWindow {
		return errors.New("the timestamp is more than five minutes off")
	}
	return nil
}
