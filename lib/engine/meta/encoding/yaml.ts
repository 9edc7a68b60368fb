/**
 * Decodes and encodes YAML like Kubernetes. Loads js-yaml on first use, through yamllibrary.ts, so that JSON requests do not pay for
 * it. Uses only the parser and the writer of js-yaml.
 * Source: sigs.k8s.io/yaml, behaviour of kube-apiserver.
 */

import type { JsonValue } from '../types.ts'
import { formatValue } from './badvalue.ts'
import { DecodeError, MAX_DEPTH, shortName } from './jsonscanner.ts'
import type { Event } from './yamllibrary.ts'
import { isForeign, plainNumber } from './yamlscalar.ts'
import { buildTree, type YamlNode } from './yamltree.ts'

type JsYaml = typeof import('./yamllibrary.ts')

/** A decoded text, and Go's messages about its duplicate keys: `line 4: key "ttl" already set in map`, at most 100. */
interface ParsedYaml {
  value: JsonValue
  duplicates: string[]
}

/**
 * Decodes the first document; an empty text is null, and the last of duplicate keys wins. Decodes numbers like `parseJson`.
 * Throws DecodeError (`yaml: line 3: did not find expected node content`), which does not quote the text.
 */
export async function parseYaml(text: string): Promise<ParsedYaml> {
  const library = await import('./yamllibrary.ts')
  const { value, duplicates } = buildTree(firstDocument(library, text))
  const line = lines(text)
  return {
    value,
    duplicates: duplicates.map(({ at, key }) => `line ${line(at)}: key ${keyText(key)} already set in map`),
  }
}

const keyText = (key: JsonValue): string => formatValue(typeof key === 'string' ? shortName(key) : key)

/** Encodes a value as YAML that Go and js-yaml both decode to the same value: quotes strings that either would misread. */
export const dumpYaml = async (value: JsonValue): Promise<string> => (await yamlWriter())(value)

/** Returns a function like `dumpYaml`, for many values. */
export async function yamlWriter(): Promise<(value: JsonValue) => string> {
  const { DUMP_SCHEMA, dump } = await import('./yamllibrary.ts')
  const schema = DUMP_SCHEMA.withTags(...(await numberTags()), await foreignTag())
  return (value) => dump(value, { schema, lineWidth: -1, noRefs: true })
}

/** Encodes numbers by Go's rules: js-yaml cannot write bigint, and does not quote `0o10`. */
async function numberTags() {
  const { defineScalarTag, NOT_RESOLVED } = await import('./yamllibrary.ts')
  const whole = (one: unknown): boolean => typeof one === 'bigint' || Number.isInteger(one)
  const numberTag = (name: string, identify: (one: unknown) => boolean) =>
    defineScalarTag(`tag:yaml.org,2002:${name}`, {
      implicit: true,
      resolve: (text) => {
        const value = plainNumber(text)
        return value !== undefined && identify(value) ? value : NOT_RESOLVED
      },
      identify,
      represent: String,
    })
  return [numberTag('int', whole), numberTag('float', (one) => typeof one === 'number' && !whole(one))]
}

/** Makes the writer quote what only other readers misread: `12:30` is 750 in YAML 1.1. */
async function foreignTag() {
  const { defineScalarTag, NOT_RESOLVED } = await import('./yamllibrary.ts')
  return defineScalarTag('tag:yaml.org,2002:foreign', {
    implicit: true,
    resolve: (text) => (isForeign(text) ? text : NOT_RESOLVED),
    identify: () => false,
  })
}

/** Matches characters that yaml.v2 rejects anywhere, before it parses the text. */
const UNREADABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ufffd]/

function events(library: JsYaml, text: string): Event[] {
  if (UNREADABLE.test(text)) throw new DecodeError('yaml: control characters are not allowed')
  try {
    return library.parseEvents(text, { maxDepth: MAX_DEPTH })
  } catch (error) {
    throw new DecodeError(yamlProblem(error))
  }
}

function* firstDocument(library: JsYaml, text: string): Generator<YamlNode> {
  const { EVENT_ID, SCALAR_STYLE } = library
  const slice = (start: number, end: number): string => (start < 0 ? '' : text.slice(start, end))
  /** The position of the previous node, which empty scalars use because they have none. */
  let at = 0
  const first = (...offsets: number[]): number => {
    const known = offsets.filter((one) => one >= 0)
    return known.length === 0 ? at : Math.min(...known)
  }
  for (const event of events(library, text)) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        if (event.directives.some(({ kind }) => kind === 'tag'))
          throw new DecodeError('yaml: found undefined tag handle')
        break
      case EVENT_ID.SCALAR: {
        const block = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
        // The value of a block scalar begins on the line after its header.
        at = first(block ? event.valueStart - 1 : event.valueStart, event.anchorStart, event.tagStart)
        const plain = event.style === SCALAR_STYLE.PLAIN
        const value = library.getScalarValue(text, event).toWellFormed()
        // js-yaml adds a line break to a block scalar even if the text ends without one.
        const cut = block && event.valueEnd >= text.length && !/[\r\n]$/.test(text)
        const anchor = slice(event.anchorStart, event.anchorEnd)
        const tag = fullTag(slice(event.tagStart, event.tagEnd))
        yield { type: 'scalar', at, anchor, tag, plain, text: cut ? value.replace(/\n$/, '') : value }
        break
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        at = first(event.start, event.anchorStart, event.tagStart)
        const type = event.type === EVENT_ID.MAPPING ? 'mapping' : 'sequence'
        yield { type, at, anchor: slice(event.anchorStart, event.anchorEnd) }
        break
      }
      case EVENT_ID.ALIAS:
        at = event.anchorStart
        yield { type: 'alias', at, anchor: slice(event.anchorStart, event.anchorEnd) }
        break
      default:
        yield { type: 'end' }
    }
  }
}

function fullTag(tag: string): string {
  if (tag.startsWith('!<')) return tag.slice(2, -1)
  return tag.startsWith('!!') ? `tag:yaml.org,2002:${tag.slice(2)}` : tag
}

/** Returns a function that converts an offset to a line number, starting at 1. */
function lines(text: string): (offset: number) => number {
  let starts: number[] | undefined
  return (offset) => {
    starts ??= Array.from(text.matchAll(/\r\n?|\n/g), ({ 0: end, index }) => index + end.length)
    let low = 0
    for (let high = starts.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

/** Maps js-yaml's reasons to messages of Go's parser. Never passes on the reasons themselves, which can quote the source. */
const PROBLEMS: readonly [RegExp, string][] = [
  [/maxDepth/, 'exceeded max depth'],
  [/within a flow collection|expected the node content/, 'did not find expected node content'],
  [/missed comma|deficient indentation/, "did not find expected ',' or ']'"],
  [/end of the stream within a/, 'found unexpected end of stream'],
  [/end of the document within a/, 'found unexpected document indicator'],
  [/tab characters/, 'found character that cannot start any token'],
  [/escape sequence/, 'found unknown escape character'],
  [/hexadecimal/, 'did not find expected hexdecimal number'],
  [/printable|null byte|valid JSON character/, 'control characters are not allowed'],
  [/mapping entry|sequence entry/, 'mapping values are not allowed in this context'],
  [/mapping key|key-value/, "could not find expected ':'"],
  [/document separator|directive/i, 'did not find expected <document start>'],
  [/anchor|alias/, 'did not find expected alphabetic or numeric character'],
  [/tag/, 'found undefined tag handle'],
]

function yamlProblem(error: unknown): string {
  if (error instanceof RangeError) return 'yaml: exceeded max depth'
  const { reason, mark } = error as { reason?: string; mark?: { line: number } }
  if (reason === undefined) throw error
  const text = PROBLEMS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'did not find expected node content'
  return mark === undefined ? `yaml: ${text}` : `yaml: line ${mark.line + 1}: ${text}`
}
