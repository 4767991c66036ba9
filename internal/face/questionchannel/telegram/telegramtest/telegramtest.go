// Package telegramtest is a test server with the part of the Telegram Bot API that a question bot
// needs, and with the people of a chat.
package telegramtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Token is the token of the only bot.
const Token = "123456:TEST-token"

// RecordedMessage is a message of the bot in its current form.
type RecordedMessage struct {
	ID      int64
	Chat    int64
	Text    string
	Buttons []string // their labels
	ReplyTo int64

	data []string
}

// TelegramServerFault is a failure that the server returns instead of an answer.
type TelegramServerFault struct {
	Status int
	Body   string // empty: an error of that status
	After  int    // seconds to wait before the next call
	Cut    bool   // the connection ends
}

// Server is the test server. It is safe for concurrent use.
type Server struct {
	web *httptest.Server

	mu       sync.Mutex // guards the fields below
	messages []RecordedMessage
	told     []string // texts shown to people who pressed a button
	updates  []map[string]any
	next     int64
	faults   map[string][]TelegramServerFault // by method
	calls    map[string]int
	grown    chan struct{}
}

// Start starts a server; Close stops it.
func Start() *Server {
	s := &Server{faults: map[string][]TelegramServerFault{}, calls: map[string]int{}, grown: make(chan struct{}), next: 100}
	s.web = httptest.NewServer(s)
	return s
}

// URL is the address of the API.
func (s *Server) URL() string { return s.web.URL }

// Close stops the server.
func (s *Server) Close() {
	s.web.CloseClientConnections()
	s.web.Close()
}

// FailNextCalls makes the next calls of a method fail.
func (s *Server) FailNextCalls(method string, faults ...TelegramServerFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// CallCount returns how often a method was called.
func (s *Server) CallCount(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Messages returns the messages of the bot.
func (s *Server) Messages() []RecordedMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// CallbackTexts returns the texts that were shown to people who pressed a button.
func (s *Server) CallbackTexts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// PressButton presses a button of a message as a user.
func (s *Server) PressButton(m RecordedMessage, choice string, user int64) {
	data := choice
	if n := slices.Index(m.Buttons, choice); n >= 0 {
		data = m.data[n]
	}
	s.queueUpdate(map[string]any{"callback_query": map[string]any{
		"id": "press", "from": userFields(user), "message": map[string]any{"message_id": m.ID, "chat": map[string]any{"id": m.Chat}}, "data": data,
	}})
}

// SendText writes in a chat as a user, in reply to a message or, if replyTo is 0, to none.
func (s *Server) SendText(chat, replyTo int64, text string, user int64) {
	m := map[string]any{"message_id": 5000, "chat": map[string]any{"id": chat}, "from": userFields(user), "text": text}
	if replyTo != 0 {
		m["reply_to_message"] = map[string]any{"message_id": replyTo, "chat": map[string]any{"id": chat}}
	}
	s.queueUpdate(map[string]any{"message": m})
}

func userFields(id int64) map[string]any {
	return map[string]any{"id": id, "is_bot": false, "first_name": "Ada", "username": fmt.Sprintf("ada%d", id)}
}

func (s *Server) queueUpdate(update map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	update["update_id"] = s.next
	s.updates = append(s.updates, update)
	close(s.grown)
	s.grown = make(chan struct{})
}

// botMethodParams are the parameters of all methods.
type botMethodParams struct {
	Chat    int64  `json:"chat_id"`
	Message int64  `json:"message_id"`
	Text    string `json:"text"`
	Offset  int64  `json:"offset"`
	Timeout int    `json:"timeout"`
	Reply   struct {
		Message int64 `json:"message_id"`
	} `json:"reply_parameters"`
	Markup struct {
		Rows [][]struct {
			Text string `json:"text"`
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	} `json:"reply_markup"`
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+Token+"/")
	if !ok {
		writeFault(w, TelegramServerFault{Status: http.StatusUnauthorized})
		return
	}
	body, err := io.ReadAll(r.Body)
	var p botMethodParams
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	s.mu.Lock()
	s.calls[method]++
	var f *TelegramServerFault
	if all := s.faults[method]; len(all) > 0 {
		f, s.faults[method] = &all[0], all[1:]
	}
	s.mu.Unlock()
	switch {
	case f != nil && f.Cut:
		panic(http.ErrAbortHandler)
	case f != nil:
		writeFault(w, *f)
	case err != nil || len(p.Text) > 4096:
		writeFault(w, TelegramServerFault{Status: http.StatusBadRequest})
	case method == "getUpdates":
		writeResult(w, s.pollUpdates(r, p))
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.handleMethod(w, method, p)
	}
}

// handleMethod runs a method that changes state. The caller holds the lock.
func (s *Server) handleMethod(w http.ResponseWriter, method string, p botMethodParams) {
	switch method {
	case "sendMessage":
		m := RecordedMessage{ID: int64(len(s.messages) + 1), Chat: p.Chat, Text: p.Text, ReplyTo: p.Reply.Message}
		for _, row := range p.Markup.Rows {
			for _, b := range row {
				if len(b.Data) > 64 {
					writeFault(w, TelegramServerFault{Status: http.StatusBadRequest})
					return
				}
				m.Buttons, m.data = append(m.Buttons, b.Text), append(m.data, b.Data)
			}
		}
		s.messages = append(s.messages, m)
		writeResult(w, map[string]any{"message_id": m.ID, "chat": map[string]any{"id": p.Chat}, "text": p.Text})
	case "editMessageText":
		for i := range s.messages {
			if s.messages[i].ID == p.Message && s.messages[i].Chat == p.Chat {
				s.messages[i].Text, s.messages[i].Buttons = p.Text, nil
				writeResult(w, true)
				return
			}
		}
		writeFault(w, TelegramServerFault{Status: http.StatusBadRequest})
	case "answerCallbackQuery":
		if len([]rune(p.Text)) > 200 {
			writeFault(w, TelegramServerFault{Status: http.StatusBadRequest})
			return
		}
		s.told = append(s.told, p.Text)
		writeResult(w, true)
	default:
		writeFault(w, TelegramServerFault{Status: http.StatusNotFound})
	}
}

// pollUpdates waits for updates that were not confirmed.
func (s *Server) pollUpdates(r *http.Request, p botMethodParams) []map[string]any {
	over := time.After(time.Duration(p.Timeout) * time.Second)
	for {
		s.mu.Lock()
		s.updates = slices.DeleteFunc(s.updates, func(u map[string]any) bool { id, _ := u["update_id"].(int64); return id < p.Offset })
		all, grown := slices.Clone(s.updates), s.grown
		s.mu.Unlock()
		if len(all) > 0 {
			return all
		}
		select {
		case <-grown:
		case <-over:
			return []map[string]any{}
		case <-r.Context().Done():
			return nil
		}
	}
}

func writeResult(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone reads nothing.
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
}

func writeFault(w http.ResponseWriter, f TelegramServerFault) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	if f.Body != "" {
		_, _ = io.WriteString(w, f.Body) // a client that is gone reads nothing
		return
	}
	v := map[string]any{"ok": false, "error_code": f.Status, "description": http.StatusText(f.Status)}
	if f.After > 0 {
		v["parameters"] = map[string]any{"retry_after": f.After}
	}
	_ = json.NewEncoder(w).Encode(v) // a client that is gone reads nothing
}
