/** Defines and reads sequences of requests with recorded answers of kube-apiserver. README.md explains the format. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: bodies and answers are JSON of every shape.
export type Json = any

export interface Request {
  method: string
  /** Path below the group version, or below the root of the API when it starts with `//`. */
  path: string
  /** Override the defaults; null omits a header. */
  headers?: Record<string, string | null>
  /** Text is sent unchanged, everything else as JSON. */
  body?: Json
}

export interface Step extends Request {
  /** One sentence that describes the step. */
  say?: string
  /** The user: a name that the target defines, or `none`. */
  as?: string
  /** Saves values of the answer by JSON pointer for `{{name}}` in later steps. */
  save?: Record<string, string>
  /** Reads a stream up to this number of events or seconds. */
  watch?: { events: number; seconds?: number }
  /** Requests that are sent while a stream is read: one after each of its events. */
  during?: Request[]
  /** The only pointers of the body that are compared. */
  only?: string[]
  /** Pointers that are not compared; `*` matches every element. */
  ignore?: string[]
  ignoreHeaders?: string[]
  /** For recorded text only the code is compared. */
  anyText?: boolean
  want?: Answer
}

/** `{ wait }` alone waits for some seconds. */
export type Entry = Step | { wait: number }

/** An answer in which values that differ between runs are replaced. */
export interface Answer {
  code: number
  headers?: Record<string, string>
  body?: Json
  text?: string
  /** The set of lines of a YAML answer. */
  lines?: string[]
  /** The events of a watch. */
  events?: Json[]
  /** Whether the server ended the watch before the requested number of events. */
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

/** Reads all scenarios of a folder of this one, sorted by file name. */
export async function readScenarios(name: string): Promise<Scenario[]> {
  const folder = join(import.meta.dirname, name)
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(files.map((file) => readScenario(join(folder, file))))
}
