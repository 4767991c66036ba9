// Package llmtest is a scripted model server: an HTTP server on loopback with Anthropic's Messages
// API, OpenAI's Chat Completions and Responses, and Google's generateContent, with and without
// streaming. It answers from a script, and can produce faults on demand. The demo, the benchmarks
// and all tests of complete runs use it.
//
// An answer depends only on the request, so that parallel runs, resumed runs and restarted servers
// get the same answers. The first user message must have a line with the name of the conversation,
//
//	Conversation: T3.1/coder.1
//
// and the number of the model's messages in the request is the step. The server's only state is
// the count of faults.
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
// The API is POST /v1/messages, POST /v1/chat/completions, POST /v1/responses (also without
// "/v1"), POST /v1beta/models/NAME:streamGenerateContent, GET /v1/models and GET /v1beta/models.
// GET /log lists the requests, one JSON object per line.
package llmtest
