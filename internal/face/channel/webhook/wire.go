package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// The headers of both directions.
const (
	Timestamp      = "Nexus-Timestamp" // seconds since 1970
	Signature      = "Nexus-Signature" // "v1=" and the HMAC-SHA256 in hexadecimal digits
	deliveryHeader = "Nexus-Delivery"  // the same for each try to deliver a question
)

// Direction says what is signed: no question can be sent back as an answer.
type Direction string

// The directions.
const (
	Question Direction = "question"
	Reply    Direction = "answer"
)

// Sign returns the signature of a body that is sent at a time.
func Sign(secret string, d Direction, at time.Time, body []byte) (stamp, signature string) {
	stamp = strconv.FormatInt(at.Unix(), 10)
	return stamp, "v1=" + hex.EncodeToString(sum(secret, d, stamp, body))
}

func sum(secret string, d Direction, stamp string, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = m.Write([]byte(string(d) + "." + stamp + "."))
	_, _ = m.Write(body)
	return m.Sum(nil)
}

// window is how far the clocks of both sides may be apart.
const window = 5 * time.Minute

// verify says why a body does not come from who has the secret, or not now.
// It takes as long whatever is wrong with the signature.
func verify(secret string, d Direction, h http.Header, body []byte, now time.Time) error {
	stamp := h.Get(Timestamp)
	sent, err := hex.DecodeString(strings.TrimPrefix(h.Get(Signature), "v1="))
	if !hmac.Equal(sent, sum(secret, d, stamp, body)) || err != nil || !strings.HasPrefix(h.Get(Signature), "v1=") {
		return errors.New("the signature is missing or wrong")
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the timestamp is not a number of seconds")
	}
	if off := now.Sub(time.Unix(at, 0)); off > window || off < -window {
		return errors.New("the timestamp is more than five minutes off")
	}
	return nil
}

// message is what is sent of an item.
type message struct {
	Version  int         `json:"version"` // 1
	Pending  people.Item `json:"pending"`
	Token    string      `json:"token"`     // to be sent back with the answer
	AnswerTo string      `json:"answer_to"` // where to
}

// answer is what comes back.
type answer struct {
	Run    nexus.RunID `json:"run"`
	ID     string      `json:"id"`
	Answer string      `json:"answer"`
	Token  string      `json:"token"`
	By     string      `json:"by"` // who answers; may be empty
}

// parse reads an answer strictly.
func parse(body []byte) (answer, error) {
	var a answer
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return answer{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return answer{}, errors.New("there is more than one object")
	}
	if a.Run == "" || a.ID == "" || a.Answer == "" {
		return answer{}, errors.New("run, id and answer are required")
	}
	if a.By = strings.Join(strings.Fields(legible.Show(a.By)), " "); len(a.By) > 64 {
		return answer{}, errors.New("the name in by is longer than 64 bytes")
	}
	return a, nil
}
