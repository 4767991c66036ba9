// Package telegramapi is a client of Telegram's Bot API. Its errors report whether a retry may help,
// and never contain the token.
package telegramapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// MaxBody limits the size of a response of the server, in bytes.
const MaxBody = 4 << 20

// Official is the address of Telegram's own Bot API.
const Official = "https://api.telegram.org"

// Client speaks the Bot API.
type Client struct {
	Base, Token string
	HTTP        *http.Client
}

// NewClient returns a client of a bot. An empty base means [Official].
func NewClient(base, token string, timeout time.Duration) *Client {
	return &Client{
		Base: strings.TrimRight(cmp.Or(base, Official), "/"), Token: token,
		HTTP: webhookpost.NewClient(timeout), // the address contains the token: no redirects
	}
}

// Error is an error response of the server.
type Error struct {
	Code  int
	Text  string
	After time.Duration // time to wait before a retry; 0 if not given
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Text) }

// IsFinal reports whether a retry cannot help.
func IsFinal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code >= 400 && e.Code < 500 &&
		!slices.Contains([]int{http.StatusTooManyRequests, http.StatusConflict, http.StatusRequestTimeout}, e.Code)
}

// botResponseEnvelope is the outer object of every response.
type botResponseEnvelope struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	Code        int             `json:"error_code"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// ParseResult returns the result in a response of the server, or its [*Error].
func ParseResult(status int, body []byte) (json.RawMessage, error) {
	var e botResponseEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, &Error{Code: max(status, 500), Text: "the server's answer cannot be read"}
	}
	if !e.OK {
		if e.Code == 0 {
			e.Code = status
		}
		return nil, &Error{Code: e.Code, Text: e.Description, After: time.Duration(min(max(e.Parameters.RetryAfter, 0), 300)) * time.Second}
	}
	return e.Result, nil
}

// Call calls a method, and decodes its result into dest unless that is nil.
func (c *Client) Call(ctx context.Context, method string, params, dest any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+"/bot"+c.Token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return errors.New("the url of the Telegram channel or the token is not valid in an address")
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address, which contains the token
		}
		return fmt.Errorf("%s: %w", method, err)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	_ = resp.Body.Close() // it was read, or is not needed
	if err == nil && len(data) > MaxBody {
		err = errors.New("the answer is too large")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	result, err := ParseResult(resp.StatusCode, data)
	if err == nil && dest != nil {
		if json.Unmarshal(result, dest) != nil {
			err = &Error{Code: 500, Text: "the server's answer cannot be read"}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// BotUser is the sender of a message.
type BotUser struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

// BotMessage is a message in a chat.
type BotMessage struct {
	ID   int64 `json:"message_id"`
	Chat struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	From    *BotUser    `json:"from"`
	Text    string      `json:"text"`
	ReplyTo *BotMessage `json:"reply_to_message"`
}

// ButtonPress is a press of a button.
type ButtonPress struct {
	ID      string      `json:"id"`
	From    BotUser     `json:"from"`
	Message *BotMessage `json:"message"`
	Data    string      `json:"data"`
}

// BotUpdate is an event of the bot.
type BotUpdate struct {
	ID      int64        `json:"update_id"`
	Message *BotMessage  `json:"message"`
	Press   *ButtonPress `json:"callback_query"`
}

// MessageButton is a button below a message.
type MessageButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// ButtonKeyboard is the buttons below a message.
type ButtonKeyboard struct {
	Rows [][]MessageButton `json:"inline_keyboard"`
}

// RetryDelay returns how long the server asks us to wait; 0 if it does not.
func RetryDelay(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.After
	}
	return 0
}
