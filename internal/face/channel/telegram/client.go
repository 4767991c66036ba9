package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxBody is the largest answer of the server that is read, in bytes.
const maxBody = 4 << 20

// client speaks the Bot API. No error of it has the token.
type client struct {
	base, token string
	http        *http.Client
}

// apiError is what the server says no with.
type apiError struct {
	code  int
	text  string
	after time.Duration // how long it wants to be left alone; 0 where it does not say
}

// Error says what the server said.
func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

// final reports whether no other try will do.
func final(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.code >= 400 && e.code < 500 && e.code != http.StatusTooManyRequests && e.code != http.StatusConflict && e.code != http.StatusRequestTimeout
}

// envelope is around every answer.
type envelope struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	Code        int             `json:"error_code"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// open opens an envelope.
func open(status int, body []byte) (json.RawMessage, error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, &apiError{code: max(status, 500), text: "what the server said cannot be read"}
	}
	if !e.OK {
		if e.Code == 0 {
			e.Code = status
		}
		return nil, &apiError{code: e.Code, text: e.Description, after: time.Duration(min(max(e.Parameters.RetryAfter, 0), 300)) * time.Second}
	}
	return e.Result, nil
}

// call calls a method.
func (c *client) call(ctx context.Context, method string, params, dest any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/bot"+c.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return errors.New("channels.telegram.base_url or the token is not valid in an address")
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the address has the token
		}
		return fmt.Errorf("%s: %w", method, err)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close() // it was read, or is not wanted
	if err == nil && len(data) > maxBody {
		err = errors.New("the answer is too large")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	result, err := open(resp.StatusCode, data)
	if err == nil && dest != nil {
		if json.Unmarshal(result, dest) != nil {
			err = &apiError{code: 500, text: "what the server said cannot be read"}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// user is whoever wrote.
type user struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

// message is a message in a chat.
type message struct {
	ID   int64 `json:"message_id"`
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	From    *user    `json:"from"`
	Text    string   `json:"text"`
	ReplyTo *message `json:"reply_to_message"`
}

// press is a button that was pressed.
type press struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

// update is something that happened.
type update struct {
	ID      int64    `json:"update_id"`
	Message *message `json:"message"`
	Press   *press   `json:"callback_query"`
}

// button is a button below a message.
type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

// backoff says how long to wait after failures in a row: from unit on, doubled
// each time, up to 30 of it, and never less than the server wants.
type backoff struct {
	unit time.Duration
	n    int
}

func (b *backoff) next(err error) time.Duration {
	b.n++
	wait := min(b.unit<<min(b.n-1, 10), 30*b.unit)
	if e, ok := errors.AsType[*apiError](err); ok && e.after > wait {
		return e.after
	}
	return wait
}
