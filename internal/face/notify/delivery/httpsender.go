package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/telegramapi"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// timeout limits how long a receiver may take for a message.
const timeout = 10 * time.Second

// The longest texts that services accept, in bytes.
const (
	maxSlack    = 3000
	maxDiscord  = 1900
	maxTelegram = 3500
)

// HTTPSender sends messages through HTTP to one address.
type HTTPSender struct {
	client *http.Client
	url    string
	write  func(NoticeMessage) any
	header func(NoticeMessage, []byte) http.Header
}

// NewWebhook returns a channel to the user's own program, signed with a secret.
func NewWebhook(url, secret string, now func() time.Time) *HTTPSender {
	return &HTTPSender{
		client: webhookpost.NewClient(timeout), url: url,
		write: func(m NoticeMessage) any {
			return struct {
				Version int `json:"version"`
				NoticeMessage
			}{1, m}
		},
		header: func(m NoticeMessage, body []byte) http.Header {
			return webhookpost.SignedHeaders(secret, webhookpost.DirectionNotice, now(), body, m.ID)
		},
	}
}

// NewSlack returns a channel to an incoming webhook of Slack.
func NewSlack(url string) *HTTPSender {
	return &HTTPSender{client: webhookpost.NewClient(timeout), url: url, write: func(m NoticeMessage) any {
		text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(fitLines(m.TextLines(), maxSlack))
		return map[string]any{"text": text, "mrkdwn": false, "link_names": false, "unfurl_links": false, "unfurl_media": false}
	}}
}

// suppressEmbeds is Discord's flag of a message whose links are not shown as cards.
const suppressEmbeds = 4

// NewDiscord returns a channel to a webhook of Discord.
func NewDiscord(url string) *HTTPSender {
	return &HTTPSender{client: webhookpost.NewClient(timeout), url: url, write: func(m NoticeMessage) any {
		var b strings.Builder
		for _, r := range strings.Join(m.TextLines(), "\n") {
			if strings.ContainsRune("\\*_~`|>#-+[]()<:@.", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		text := fitLines(strings.Split(b.String(), "\n"), maxDiscord)
		return map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}, "flags": suppressEmbeds}
	}}
}

// Send sends a message.
func (w *HTTPSender) Send(ctx context.Context, m NoticeMessage) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(w.write(m)); err != nil {
		return &webhookpost.PostError{Text: err.Error(), Final: true}
	}
	data := sanitize.EscapeJSON(body.Bytes())
	var h http.Header
	if w.header != nil {
		h = w.header(m, data)
	}
	return webhookpost.PostJSON(ctx, w.client, w.url, data, h)
}

// TelegramSender sends messages to a chat, through a bot.
type TelegramSender struct {
	api  *telegramapi.Client
	chat int64
}

// NewTelegram returns a channel to a chat; an empty base is Telegram's own server.
func NewTelegram(base, token string, chat int64) *TelegramSender {
	return &TelegramSender{telegramapi.NewClient(base, token, timeout), chat}
}

// Send sends a message without markup.
func (t *TelegramSender) Send(ctx context.Context, m NoticeMessage) error {
	err := t.api.Call(ctx, "sendMessage", map[string]any{
		"chat_id": t.chat, "text": fitLines(m.TextLines(), maxTelegram), "link_preview_options": map[string]any{"is_disabled": true},
		"disable_notification": m.HighestSeverity() == "green",
	}, nil)
	if err == nil {
		return nil
	}
	return &webhookpost.PostError{Text: err.Error(), Final: telegramapi.IsFinal(err), Wait: telegramapi.RetryDelay(err)}
}
