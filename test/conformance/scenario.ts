/** Sequences of requests with the answers that a kube-apiserver gave. README.md explains the format. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: bodies and answers are JSON of every shape.
export type Json = any

export interface Request {
  method: string
  /** Below the group version, or below the root of the API when it begins with `//`. */
  path: string
  /** Over the defaults; null = not sent. */
  headers?: Record<string, string | null>
  /** Text is sent as it is, everything else as JSON. */
  body?: Json
}

export interface Step extends Request {
  /** What is shown, one sentence. */
  say?: string
  /** Whose access key: a name that the target knows, or `none`. */
  as?: string
  /** Values of the answer by JSON pointer, for `{{name}}` in later steps. */
  save?: Record<string, string>
  /** Reads a stream until so many events have come or so many seconds have passed. */
  watch?: { events: number; seconds?: number }
  /** Requests that are sent while the step runs, `after` seconds into it. */
  during?: (Request & { after?: number })[]
  /** Pointers that are compared, and nothing else of the body. */
  only?: string[]
  /** Pointers that are not compared; `*` = every element. */
  ignore?: string[]
  ignoreHeaders?: string[]
  /** Where text was recorded only the code counts. */
  anyText?: boolean
  want?: Answer
}

/** `{ wait }` alone lets seconds pass. */
export type Entry = Step | { wait: number }

/** An answer in which everything that differs from run to run has a name. */
export interface Answer {
  code: number
  headers?: Record<string, string>
  body?: Json
  text?: string
  /** Of YAML: a set of lines. */
  lines?: string[]
  /** Of a watch. */
  events?: Json[]
  /** The server ended the watch before as many events as were asked for had come. */
  ended?: true
}

export interface Scenario {
  file: string
  about: string
  steps: Entry[]
}

export const isStep = (entry: Entry): entry is Step => !('wait' in entry)

export async function readScenario(path: string): Promise<Scenario> {
  const { about, steps } = JSON.parse(await readFile(path, 'utf8'))
  return { file: basename(path), about, steps }
}

/** All scenarios of a folder, by file name. */
export async function readScenarios(folder: string): Promise<Scenario[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(files.map((file) => readScenario(join(folder, file))))
}
