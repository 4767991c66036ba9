package acpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	// maxUnread limits the messages that wait for a client that does not read, and maxUnreadBytes
	// limits their size together. Beyond that, updates are dropped, the oldest first.
	maxUnread      = 4096
	maxUnreadBytes = 32 << 20
	// lastMessagesTime limits the time for sending the last messages.
	lastMessagesTime = 2 * time.Second
)

// protocolMessage is a message of the protocol, in either direction.
type protocolMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// clientConnection sends messages to a client. Any goroutine may use it.
type clientConnection struct {
	to   io.Writer
	gone chan struct{} // closed when sending has ended
	lost func(error)   // called if the client cannot be reached

	mu      sync.Mutex // guards the fields below
	unread  []queuedMessageLine
	bytes   int
	wake    chan struct{} // signals a new message; capacity 1
	over    bool
	last    int // identifier of our last request
	waiting map[string]chan protocolMessage
}

type queuedMessageLine struct {
	line []byte
	may  bool // the message may be dropped
}

func newClientConnection(to io.Writer, lost func(error)) *clientConnection {
	return &clientConnection{to: to, gone: make(chan struct{}), lost: lost, wake: make(chan struct{}, 1), waiting: map[string]chan protocolMessage{}}
}

// writeQueuedMessages sends the queued messages until it is told to stop and the queue is empty.
func (l *clientConnection) writeQueuedMessages() {
	defer close(l.gone)
	for {
		line, more := l.nextQueuedMessage()
		switch {
		case line != nil:
			if _, err := l.to.Write(line); err != nil {
				l.stopQueuing()
				l.lost(err)
				return
			}
		case !more:
			return
		default:
			<-l.wake
		}
	}
}

func (l *clientConnection) nextQueuedMessage() (line []byte, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unread) == 0 {
		return nil, !l.over
	}
	line = l.unread[0].line
	l.unread[0].line = nil
	l.unread, l.bytes = l.unread[1:], l.bytes-len(line)
	return line, true
}

// stopQueuing refuses new messages; the queued ones are still sent.
func (l *clientConnection) stopQueuing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for id, answer := range l.waiting {
		close(answer)
		delete(l.waiting, id)
	}
	l.wakeWriter()
}

// waitForLastMessage waits until the last queued message has been sent, or the client has gone.
func (l *clientConnection) waitForLastMessage() {
	l.stopQueuing()
	t := time.NewTimer(lastMessagesTime)
	defer t.Stop()
	select {
	case <-l.gone:
	case <-t.C:
	}
}

func (l *clientConnection) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// queueMessage queues a message without waiting for the client. Messages that may be dropped make way for
// others if the client does not read.
func (l *clientConnection) queueMessage(m map[string]any, may bool) {
	m["jsonrpc"] = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return // cannot fail: it consists of texts and numbers
	}
	line := sanitize.EscapeJSON(b.Bytes())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.unread, l.bytes = append(l.unread, queuedMessageLine{line, may}), l.bytes+len(line)
	for i := 0; len(l.unread) > maxUnread || l.bytes > maxUnreadBytes; {
		switch {
		case i == len(l.unread):
			l.over = true // the client sends requests without reading the responses
			go l.lost(errors.New("the client does not read"))
			return
		case l.unread[i].may:
			l.bytes -= len(l.unread[i].line)
			l.unread = append(l.unread[:i], l.unread[i+1:]...)
		default:
			i++
		}
	}
	l.wakeWriter()
}

func (l *clientConnection) sendNotification(method string, params any, may bool) {
	l.queueMessage(map[string]any{"method": method, "params": params}, may)
}

// sendAnswer sends the response to a request of the client.
func (l *clientConnection) sendAnswer(id json.RawMessage, result any, err error) {
	m := map[string]any{"id": id}
	if err != nil {
		f := *toRequestError(err)
		f.Message = sanitize.RevealHidden(f.Message)
		m["error"] = f
	} else {
		m["result"] = result
	}
	l.queueMessage(m, false)
}

// answerInvalid answers a line that is not a message.
func (l *clientConnection) answerInvalid(code int, text string) {
	l.sendAnswer(json.RawMessage("null"), nil, &rpcRequestError{Code: code, Message: text})
}

// callClient sends a request and waits for its response. If ctx ends before, the client is told to cancel
// the request.
func (l *clientConnection) callClient(ctx context.Context, method string, params, result any) error {
	id, answer, err := l.registerRequest()
	if err != nil {
		return err
	}
	l.queueMessage(map[string]any{"id": id, "method": method, "params": params}, false)
	select {
	case m, open := <-answer:
		return decodeAnswer(m, open, result)
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, strconv.Itoa(id))
		l.mu.Unlock()
	}
	select {
	case m, open := <-answer: // the response arrived at the last moment
		return decodeAnswer(m, open, result)
	default:
		l.sendNotification("$/cancel_request", map[string]any{"requestId": id}, false)
		return context.Cause(ctx)
	}
}

// decodeAnswer reads the response to a request; open is false if the client has gone.
func decodeAnswer(m protocolMessage, open bool, result any) error {
	switch {
	case !open:
		return ErrGone
	case len(m.Error) > 0 && string(m.Error) != "null":
		return clientError(m.Error)
	}
	return json.Unmarshal(m.Result, result)
}

// clientError returns the error of a client's response, whatever its form.
func clientError(data json.RawMessage) error {
	var f rpcRequestError
	if json.Unmarshal(data, &f) != nil || f.Message == "" {
		f = rpcRequestError{Code: codeInternal, Message: "the client answered with the error " + quoteName(string(data))}
	}
	return &f
}

func (l *clientConnection) registerRequest() (id int, answer chan protocolMessage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return 0, nil, ErrGone
	}
	l.last++
	answer = make(chan protocolMessage, 1)
	l.waiting[strconv.Itoa(l.last)] = answer
	return l.last, answer, nil
}

// deliverResponse delivers the client's response to the waiting request. A response without one is
// dropped.
func (l *clientConnection) deliverResponse(m protocolMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := string(bytes.Trim(m.ID, `"`))
	if answer := l.waiting[id]; answer != nil {
		answer <- m
		delete(l.waiting, id)
	}
}
