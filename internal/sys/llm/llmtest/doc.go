// Package llmtest plays a model on a real wire: an HTTP server on loopback
// that speaks Anthropic's Messages, OpenAI's Chat Completions and Responses,
// and Google's generateContent, with and without a stream, answers from a
// script, and misbehaves on demand. The demo, the benchmarks and all tests of
// a whole run talk to it.
//
// What it answers depends on the request alone, so that parallel runs, runs
// that are resumed and servers that are restarted get the same answers. The
// first message of ours must hold a line that names the conversation,
//
//	Conversation: T3.1/coder.1
//
// and the number of the model's messages in the request is the step. Only the
// count of faults is kept in the server.
//
// A script in YAML:
//
//	conversations:
//	  - match: T3.*/coder.1
//	    turns:
//	      - say: I look first.
//	        calls:
//	          - {tool: read_file, input: {path: sum.go}}
//	      - calls:
//	          - {tool: finish, input: {summary: done, status: done}}
//	        fault: overload
//	        times: 2
//	default: {say: I have nothing to add.}
//
// POST /v1/messages, POST /v1/chat/completions, POST /v1/responses (also
// without "/v1"), POST /v1beta/models/NAME:streamGenerateContent, GET
// /v1/models and GET /v1beta/models are the wire; GET /log lists the requests,
// one JSON object a line.
package llmtest
