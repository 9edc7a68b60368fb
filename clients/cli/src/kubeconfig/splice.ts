/** Writes changed entries into the text of a kube config, and leaves every byte outside them as it is. */
import { isDeepStrictEqual } from 'node:util'
import { parseYaml, yamlWriter } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { CliError } from '../io/errors.ts'
import { PARTS } from './entries.ts'
import { type Range, rangesOf } from './yamlranges.ts'

/** Replaces the text from `start` to before `end`. */
interface Edit {
  start: number
  end: number
  text: string
}

/**
 * Returns the text of the kube config `after`, which differs from `before`, that of the text, only by new and replaced entries and by the
 * current context. Throws a CliError with a reason if these cannot be written without changing other parts of the text.
 */
export async function splice(text: string, before: JsonObject, after: JsonObject): Promise<string> {
  const root = await rangesOf(text).catch((error: Error) => {
    throw new CliError(error.message)
  })
  const splicer = new Splicer(text, root, await yamlWriter())
  for (const part of PARTS) splicer.list(`${part}s`, listIn(before, `${part}s`), listIn(after, `${part}s`))
  const { 'current-context': context } = after
  if (typeof context === 'string' && context !== before['current-context']) splicer.current(context)
  const spliced = splicer.result()
  const read = await parseYaml(spliced).catch(() => undefined)
  if (!isDeepStrictEqual(read?.value, after) || read?.duplicates.length !== 0)
    throw new CliError('anchors, aliases or merge keys connect its entries')
  return spliced
}

const listIn = (config: JsonObject, name: string): JsonValue[] => (config[name] ?? []) as JsonValue[]

class Splicer {
  readonly #text: string
  readonly #root: Range
  readonly #lineBreak: string
  readonly #write: (value: JsonValue) => string
  readonly #edits: Edit[] = []
  /** The new members of the whole, which come after the entries that end at the same place. */
  readonly #members: Edit[] = []

  constructor(text: string, root: Range, write: (value: JsonValue) => string) {
    this.#text = text
    this.#root = root
    this.#write = write
    this.#lineBreak = /\r\n|\r|\n/.exec(text)?.[0] ?? '\n'
  }

  /** Replaces the entries of a list that differ, and appends those that are new. */
  list(name: string, before: readonly JsonValue[], after: readonly JsonValue[]): void {
    const value = this.#member(name)
    for (const [at, entry] of before.entries()) {
      const range = value?.items[at]
      if (isDeepStrictEqual(entry, after[at])) continue
      if (range === undefined) throw new CliError(`its ${name} are not a list of their own`)
      this.#replace(range, value?.isFlow ? this.#flow(after[at], range) : this.#block(after[at], range.start))
    }
    const added = after.slice(before.length)
    if (added.length > 0) this.#append(name, value, added)
  }

  /** Sets the current context. */
  current(name: string): void {
    const value = this.#member('current-context')
    if (value === undefined) this.#addMember('current-context', name)
    else this.#setValue(value, this.#root.isFlow ? JSON.stringify(name) : this.#write(name).trimEnd())
  }

  result(): string {
    const edits = [...this.#edits, ...this.#members].toSorted((a, b) => a.start - b.start)
    let at = 0
    const parts = edits.map(({ start, end, text }) => {
      const kept = this.#text.slice(at, start)
      at = end
      return kept + text
    })
    return parts.join('') + this.#text.slice(at)
  }

  #member(name: string): Range | undefined {
    return this.#root.members.find(({ key }) => key.text === name)?.value
  }

  #replace({ start, end }: Range, text: string): void {
    // The range of a block scalar ends behind its last line break.
    const tail = this.#isLineStart(end) && end > start ? this.#lineBreak : ''
    this.#edits.push({ start, end, text: text + tail })
  }

  #setValue(value: Range, text: string): void {
    this.#replace(value, value.start === value.end ? ` ${text}` : text)
  }

  #append(name: string, value: Range | undefined, entries: JsonValue[]): void {
    const last = value?.items.at(-1)
    if (value === undefined) {
      this.#addMember(name, entries)
    } else if (last !== undefined && value.isFlow) {
      this.#insert(last.end, entries.map((entry) => this.#next(last) + this.#flow(entry, last)).join(''))
    } else if (last !== undefined) {
      this.#insertLines(this.#edits, value.end, this.#lines(entries, value.start))
    } else if (value.kind === 'scalar' || value.kind === 'sequence') {
      this.#fill(name, value, entries)
    } else {
      throw new CliError(`its ${name} are not a list of their own`)
    }
  }

  /** Writes entries where there are none: instead of nothing, `null` or `[]`. */
  #fill(name: string, value: Range, entries: JsonValue[]): void {
    const { kind, start, end } = value
    const written = this.#text.slice(start, end)
    if (kind === 'sequence' && (this.#root.isFlow || !/^\[[ \t]*\]$/.test(written))) {
      this.#insert(start + written.indexOf('[') + 1, oneLine(entries).slice(1, -1).trim())
    } else if (this.#root.isFlow) {
      this.#setValue(value, oneLine(entries))
    } else {
      const before = /[ \t]*$/.exec(this.#text.slice(0, start))?.[0].length ?? 0
      this.#edits.push({ start: start - before, end, text: '' })
      this.#insertLines(this.#edits, end, this.#lines({ [name]: entries }, this.#root.start).slice(1))
    }
  }

  #addMember(name: string, value: JsonValue): void {
    const { isFlow, start, end, members } = this.#root
    if (isFlow) {
      const last = members.at(-1)
      const separator = last !== undefined ? this.#next(last.key) : this.#members.length > 0 ? ', ' : ''
      const at = last?.value.end ?? start + 1
      this.#members.push({ start: at, end: at, text: `${separator}${JSON.stringify(name)}: ${oneLine(value)}` })
    } else {
      this.#insertLines(this.#members, end, this.#lines({ [name]: value }, start))
    }
  }

  #insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text })
  }

  /** Inserts lines below the line of an offset, with its comment. */
  #insertLines(edits: Edit[], offset: number, added: readonly string[]): void {
    if (this.#isLineStart(offset)) {
      edits.push({ start: offset, end: offset, text: added.map((line) => line + this.#lineBreak).join('') })
      return
    }
    const rest = /[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=[\r\n]|$)/y
    rest.lastIndex = offset
    const found = rest.exec(this.#text)
    if (found === null) throw new CliError('something else is on the line where an entry ends')
    const at = offset + found[0].length
    edits.push({ start: at, end: at, text: added.map((line) => this.#lineBreak + line).join('') })
  }

  /** Returns what comes between an element in brackets and the next one, which has a line of its own if this one has. */
  #next({ start }: Range): string {
    const before = this.#lineBefore(start)
    return /^[ \t]*$/.test(before) ? `,${this.#lineBreak}${before}` : ', '
  }

  /** Returns an entry as JSON: in lines if that in the range has several, or begins one. */
  #flow(entry: JsonValue | undefined, { start, end }: Range): string {
    const before = this.#lineBefore(start)
    const isLong = /[\r\n]/.test(this.#text.slice(start, end))
    if (!isLong || !/^[ \t]*$/.test(before)) return oneLine(entry ?? null)
    const unit = /^[\t]/.test(before) ? '\t' : (/\n( +)\S/.exec(this.#text)?.[1] ?? '  ')
    return JSON.stringify(entry, null, unit).replaceAll('\n', `${this.#lineBreak}${before}`)
  }

  /** Returns an entry in block style, for the place of another one. */
  #block(entry: JsonValue | undefined, start: number): string {
    return this.#lines(entry ?? null, start)
      .join(this.#lineBreak)
      .trimStart()
  }

  /** Returns the lines of a value, as far to the right as an offset is. */
  #lines(value: JsonValue, offset: number): string[] {
    const indent = ' '.repeat(this.#lineBefore(offset).length)
    return this.#write(value)
      .trimEnd()
      .split('\n')
      .map((line) => indent + line)
  }

  #lineBefore(offset: number): string {
    return (/[^\r\n]*$/.exec(this.#text.slice(0, offset))?.[0] ?? '').replace('\ufeff', '')
  }

  #isLineStart(offset: number): boolean {
    return /[\r\n]/.test(this.#text.charAt(offset - 1))
  }
}

/** Returns JSON in one line, with spaces as people write it. */
const oneLine = (value: JsonValue): string => JSON.stringify(value, null, 1).replace(/\n */g, ' ')
