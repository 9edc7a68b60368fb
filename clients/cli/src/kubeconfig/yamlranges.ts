/** Finds where the nodes of a YAML text begin and end. */
import type { Event } from '../../../../lib/engine/meta/encoding/yamllibrary.ts'

/** A node at the offsets from `start` to before `end`, with its anchor and tag. An empty node has two equal offsets. */
export interface Range {
  kind: 'scalar' | 'alias' | 'sequence' | 'mapping'
  start: number
  end: number
  /** Whether it is a collection in brackets. */
  isFlow: boolean
  /** The text of a scalar. */
  text: string
  /** The elements of a sequence. */
  items: Range[]
  /** The members of a mapping. */
  members: { key: Range; value: Range }[]
}

/** Returns the node of the first document, which `parseYaml` must have accepted. Throws an Error for brackets whose end it cannot find. */
export async function rangesOf(source: string): Promise<Range> {
  const { COLLECTION_STYLE, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } = await import(
    '../../../../lib/engine/meta/encoding/yamllibrary.ts'
  )
  const events = parseEvents(source, { maxDepth: 1000 })[Symbol.iterator]()
  /** The end of what was read, where an empty node is. */
  let at = 0

  const next = (): Event => events.next().value ?? { type: EVENT_ID.POP }

  /** Moves to the end of what the pattern matches here. */
  const pass = (pattern: RegExp): string => {
    const sticky = new RegExp(pattern, 'y')
    sticky.lastIndex = at
    const [found = ''] = sticky.exec(source) ?? []
    at += found.length
    return found
  }

  const properties = (event: Exclude<Event, { type: 1 | 5 | 6 }>): number[] =>
    [event.anchorStart < 0 ? -1 : event.anchorStart - 1, event.tagStart].filter((offset) => offset >= 0)

  const read = (event: Event): Range => {
    const none = { isFlow: false, text: '', items: [], members: [] }
    switch (event.type) {
      case EVENT_ID.ALIAS:
        at = event.anchorEnd
        return { ...none, kind: 'alias', start: event.anchorStart - 1, end: at }
      case EVENT_ID.SCALAR: {
        const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED
        const quote = isQuoted ? 1 : 0
        const isEmpty = event.valueStart < 0
        at = Math.max(at, event.anchorEnd, event.tagEnd, isEmpty ? 0 : event.valueEnd + quote)
        const start = Math.min(...properties(event), isEmpty ? at : event.valueStart - quote)
        return { ...none, kind: 'scalar', start, end: at, text: getScalarValue(source, event) }
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const isFlow = event.style === COLLECTION_STYLE.FLOW && /[[{]/.test(source.charAt(event.start))
        const start = Math.min(...properties(event), event.start)
        at = event.start + (isFlow ? 1 : 0)
        const isMapping = event.type === EVENT_ID.MAPPING
        const content = isMapping ? { members: members() } : { items: items() }
        if (isFlow) {
          pass(/(?:[\s,]|#[^\r\n]*)*/)
          if (pass(/[\]}]/) !== (isMapping ? '}' : ']')) throw new Error(`no end of the brackets at ${event.start}`)
        }
        return { ...none, kind: isMapping ? 'mapping' : 'sequence', isFlow, start, end: at, ...content }
      }
      default:
        return { ...none, kind: 'scalar', start: at, end: at }
    }
  }

  const items = (): Range[] => {
    const found: Range[] = []
    for (let event = next(); event.type !== EVENT_ID.POP; event = next()) found.push(read(event))
    return found
  }

  const members = (): Range['members'] => {
    const found: Range['members'] = []
    for (let event = next(); event.type !== EVENT_ID.POP; event = next()) {
      const key = read(event)
      pass(/[ \t]*:/)
      found.push({ key, value: read(next()) })
    }
    return found
  }

  next()
  return read(next())
}
