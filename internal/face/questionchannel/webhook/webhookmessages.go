package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// questionMessage is the JSON form in which an item is sent.
type questionMessage struct {
	Version  int                    `json:"version"` // 1
	Pending  humaninput.WaitingItem `json:"pending"`
	Token    string                 `json:"token"`     // to be sent back with the answer
	AnswerTo string                 `json:"answer_to"` // address for the answer
}

// callbackAnswer is the JSON form of a received answer.
type callbackAnswer struct {
	Run    nexus.RunID `json:"run"`
	ID     string      `json:"id"`
	Answer string      `json:"answer"`
	Token  string      `json:"token"`
	By     string      `json:"by"` // the person who answers; may be empty
}

// parseAnswer decodes an answer, and rejects unknown fields.
func parseAnswer(body []byte) (callbackAnswer, error) {
	var a callbackAnswer
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return callbackAnswer{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return callbackAnswer{}, errors.New("there is more than one object")
	}
	if a.Run == "" || a.ID == "" || a.Answer == "" {
		return callbackAnswer{}, errors.New("run, id and answer are required")
	}
	if a.By = strings.Join(strings.Fields(sanitize.RevealHidden(a.By)), " "); len(a.By) > 64 {
		return callbackAnswer{}, errors.New("the name in by is longer than 64 bytes")
	}
	return a, nil
}
