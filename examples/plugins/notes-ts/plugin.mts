// A plugin for Nexus in TypeScript, which node runs as it is (22.18 or newer): no
// packages, no build. It gives agents the notes that lie next to the files of a task,
// and writes down what happens in a run.
//
// See docs/extend.md for the protocol, and try it with nexus plugins test.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

type Line = {
	type: "hello" | "ask";
	dir?: string; // hello: a directory of our own, which stays
	id?: number;
	kind?: string;
	input?: Record<string, unknown>;
};

type Task = { id?: string; files?: string[] };

let own = "";

function answer(line: Line): object {
	if (line.type === "hello") {
		own = line.dir ?? "";
		return {
			type: "hello",
			protocol: 1,
			name: "notes-ts",
			version: "1.0",
			kinds: ["context", "reporter"],
			capabilities: { events: ["task.done", "run.end"], roles: ["coder"] },
		};
	}
	try {
		switch (line.kind) {
			case "context":
				return { type: "answer", id: line.id, output: notes(line.input ?? {}) };
			case "reporter":
				return { type: "answer", id: line.id, output: report(line.input ?? {}) };
			default:
				throw new Error(`it is no ${line.kind}`);
		}
	} catch (err) {
		return { type: "error", id: line.id, message: String(err) };
	}
}

// notes returns the NOTES.md files in the directories of a task's files.
function notes(input: Record<string, unknown>): { title?: string; text?: string } {
	const task = (input.task ?? {}) as Task;
	const tree = String(input.tree ?? "");
	const dirs = new Set((task.files ?? []).map((file) => dirname(file)));
	const texts: string[] = [];
	for (const dir of [...dirs].sort()) {
		const file = join(tree, dir, "NOTES.md");
		if (tree !== "" && existsSync(file)) {
			texts.push(`${join(dir, "NOTES.md")}:\n${readFileSync(file, "utf8")}`);
		}
	}
	if (texts.length === 0) {
		return {}; // nothing to say
	}
	return { title: "Notes next to the files of the task", text: texts.join("\n") };
}

// report appends an event to a file of our own.
function report(event: Record<string, unknown>): object {
	const words = [event.hook_event_name, event.task].filter((word) => word !== undefined);
	appendFileSync(join(own, "log.txt"), `${words.join(" ")}\n`);
	return {};
}

for await (const text of createInterface({ input: process.stdin })) {
	process.stdout.write(`${JSON.stringify(answer(JSON.parse(text) as Line))}\n`);
}
