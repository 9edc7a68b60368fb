/** Defines the general rules by which answers may differ from those of kube-apiserver, each with its reason. */
import type { Answer, Step } from '../conformance/scenario.ts'

export interface Tolerance {
  reason: string
  /** `earlier` are the preceding steps. */
  fits(want: Answer, got: Answer, step: Step, earlier: readonly Step[]): boolean
  /** Ends the comparison, because the two servers are now in different states. */
  ends?: true
}

const sortedText = (text: string): string => [...text].sort().join('')

/** Returns the message, without quotes when it comes in YAML, or all lines when it has several. */
function textOf({ body, lines = [] }: Answer): string {
  const line = lines.find((one) => /^message: [^|]/.test(one))
  return typeof body?.message === 'string' ? body.message : (line?.slice('message: '.length) ?? lines.join('\n'))
}

const removeQuotes = (text: string): string => text.replace(/["']/g, '')

const bothMatch = (want: Answer, got: Answer, pattern: RegExp): boolean =>
  want.code === got.code && [want, got].every((answer) => pattern.test(textOf(answer)))

const sortAnswer = (answer: Answer): string => sortedText(JSON.stringify(answer))
/** Returns the answer without members of metadata that are null or {}. */
function withoutEmpty(answer: Answer): string {
  const entries = Object.entries(answer.body?.metadata ?? {})
  const filled = entries.filter(([, value]) => value !== null && JSON.stringify(value) !== '{}')
  return sortAnswer({ ...answer, body: { ...answer.body, metadata: Object.fromEntries(filled) } })
}

/** Returns the answer without the computed member of a status, which kube-apiserver does not have. */
function withoutComputed(answer: Answer): Answer {
  const { status, ...body } = answer.body ?? {}
  if (typeof status !== 'object' || status === null) return answer
  const { canUse: _, ...rest } = status
  return { ...answer, body: { ...body, ...(Object.keys(rest).length > 0 && { status: rest }) } }
}

const versionless = (answer: Answer): string =>
  sortAnswer(JSON.parse(JSON.stringify(withoutComputed(answer)).replace(/rv#\d+/g, 'rv')))
const numberless = (answer: Answer): string => sortedText(JSON.stringify(answer).replace(/:-?\d[\d.eE+-]*/g, ':n'))
const versionOf = (answer: Answer): number => Number(/rv#(\d+)/.exec(JSON.stringify(answer))?.[1] ?? 0)

const isApply = ({ headers }: Step): boolean => /apply-patch/.test(headers?.['content-type'] ?? '')
const objectPath = (path: string): string => path.replace(/(\/status)?(\?.*)?$/, '')

/** Returns the lines without the status, because only computed members may remain in it. */
const plainLines = ({ lines = [] }: Answer): string[] => lines.filter((line) => !/^(status:|canUse: )/.test(line))

/** Returns the events of a watch by name and type, without their order, or '' for another answer. */
const eventsOf = ({ events = [] }: Answer): string =>
  events
    .map(({ type, object }) => `${type} ${object?.metadata?.name}`)
    .sort()
    .join('\n')

/** Returns the Warning in ASCII. The client reads UTF-8 as Latin-1. */
const asciiWarning = ({ headers = {} }: Answer): string =>
  Buffer.from(headers.warning ?? '', 'latin1')
    .toString()
    .replace(/[^ -~]/g, (one) => `\\\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Splits the message about an applied configuration that does not fit its schema into its start and its findings. */
function configurationFindings(answer: Answer): { start: string; findings: string[] } | undefined {
  const match = /failed to create typed patch object \([^;]*;[^)]*\): (errors:\n?)?/.exec(textOf(answer))
  if (!match) return undefined
  const [start] = match
  const rest = textOf(answer).slice(match.index + start.length)
  // A value may contain line breaks: a finding starts with the path of a field. YAML lines have no indent and no order.
  const findings = answer.lines ? answer.lines.filter((line) => line.startsWith('.')) : rest.split(/\n(?= {2}\.)/)
  return {
    start: start.replace(/errors:\n?$/, ''),
    findings: (findings.length > 0 ? findings : [rest]).map((one) => one.trim()),
  }
}

const UNDECLARED = ': field not declared in schema'
const pathOf = (finding: string): string => finding.slice(0, -UNDECLARED.length)

/** Returns the maps with undeclared fields, without those inside another one. */
function openMaps(findings: readonly string[]): string[] {
  const maps = findings.filter((one) => one.endsWith(UNDECLARED)).map((one) => pathOf(one).replace(/\.[^.]*$/, ''))
  return [...new Set(maps)].filter((map) => !maps.some((outer) => map.startsWith(`${outer}.`))).sort()
}

/** Reports whether the findings are the same. Long values are truncated here. */
const isSameFinding = (want: string | undefined, got: string): boolean =>
  got.endsWith('…') ? want?.startsWith(got.slice(0, -1)) === true : want === got

/**
 * Reports whether two such messages differ only in the order of their findings and in those that depend on the order in
 * which a map is read: which undeclared field is named, and which findings in its other fields precede it.
 */
function fitsUpToUndeclaredFields(want: Answer, got: Answer): boolean {
  const [wanted, found] = [configurationFindings(want), configurationFindings(got)]
  if (!wanted || !found || want.code !== got.code || wanted.start !== found.start) return false
  const maps = openMaps(wanted.findings)
  if (maps.join('\n') !== openMaps(found.findings).join('\n')) return false
  const comparable = (all: readonly string[]) =>
    all.filter((one) => !maps.some((map) => one.startsWith(`${map}.`))).toSorted()
  const [wants, gots] = [comparable(wanted.findings), comparable(found.findings)]
  return wants.length === gots.length && gots.every((one, i) => isSameFinding(wants[i], one))
}

const tolerances: readonly Tolerance[] = [
  {
    reason: 'the message names an empty body, where kube-apiserver names the end of JSON or null',
    fits: (want, got, { body = '' }) =>
      body === '' && want.code === got.code && textOf(got).includes('the request has no body'),
  },
  {
    reason: 'an unknown or duplicate field must not widen access: it is rejected unless the client asks otherwise',
    ends: true,
    fits: (want, got, { path }) =>
      !/[?&]fieldValidation=\w/.test(path) &&
      [400, 422].includes(got.code) &&
      /strict decoding (error|YAML)/.test(textOf(got)) &&
      !/strict decoding/.test(textOf(want)),
  },
  {
    reason: 'etcd stores a map of metadata that an apply emptied until the next write, which is therefore no no-op',
    ends: true,
    fits: (want, got, { method, path }, earlier) =>
      /^(PUT|PATCH)$/.test(method) &&
      earlier.some((one) => isApply(one) && objectPath(one.path) === objectPath(path)) &&
      versionless(want) === versionless(got) &&
      versionOf(want) > versionOf(got),
  },
  {
    reason: 'the write that deletes an object shows a map of metadata that an apply emptied',
    fits: (want, got) =>
      want.code === 200 && withoutEmpty(want) !== sortAnswer(want) && withoutEmpty(want) === sortAnswer(got),
  },
  {
    reason: 'a dry run of a deletion that removes the last finalizer shows an empty object',
    fits: (want, got, { method }) =>
      method === 'DELETE' && Object.keys(want.body ?? {}).length === 2 && got.body?.status === 'Success',
  },
  {
    reason:
      'in kube-apiserver, a deletion that removes the last finalizer has lost the resourceVersion to compare with',
    ends: true,
    fits: (want, got) => /ResourceVersion in precondition: ,/.test(textOf(want)) && got.code === 200,
  },
  {
    reason: 'messages of kube-apiserver quote a merge patch with the original digits of its numbers',
    fits: (want, got) =>
      bothMatch(want, got, /is invalid: patch: Invalid value/) && numberless(want) === numberless(got),
  },
  {
    reason: 'sorted lines of YAML include those of computed members',
    fits: (want, got) =>
      want.code === got.code && want.lines !== undefined && plainLines(want).join('\n') === plainLines(got).join('\n'),
  },
  {
    reason: 'a last applied configuration is stored only when it belongs to the kind',
    ends: true,
    fits: (want, got) => /last-applied/.test(JSON.stringify(want)) && !/last-applied/.test(JSON.stringify(got)),
  },
  {
    reason: 'a collection whose deletion cannot be answered in the requested form is not deleted',
    ends: true,
    fits: (_want, _got, _step, earlier) =>
      earlier.some(
        ({ method, path, headers }) =>
          method === 'DELETE' &&
          /s(?:\?.*)?$/.test(path) &&
          /as=PartialObjectMetadata;[^,]*$/.test(headers?.accept ?? ''),
      ),
  },
  {
    reason: 'objects of a collection are deleted concurrently and in any order',
    fits: (want, got, _, earlier) =>
      earlier.some(({ method, path }) => method === 'DELETE' && /s(?:\?.*)?$/.test(path)) &&
      eventsOf(want) !== '' &&
      eventsOf(want) === eventsOf(got),
  },
  {
    reason: 'Warnings are in ASCII',
    fits: (want, got) =>
      want.code === got.code &&
      asciiWarning(want) === got.headers?.warning &&
      /[^ -~]/.test(want.headers?.warning ?? ''),
  },
  {
    reason: 'the message may name any one of several options with wrong types',
    fits: (want, got) =>
      [want, got].every((one) => /^json: cannot unmarshal .* field DeleteOptions\./.test(textOf(one))),
  },
  {
    reason: 'a number beyond float64 is rejected as invalid JSON and not quoted',
    fits: (want, got) =>
      want.code >= 400 &&
      got.code === 400 &&
      (/cannot unmarshal number into Go value of type float64/.test(textOf(got)) ||
        textOf(got) === 'Invalid JSON Patch') &&
      /\d[eE]\+?\d{3}/.test(textOf(want)),
  },
  {
    reason: 'long texts are truncated in messages, so that answers have a size limit',
    fits: (want, got) => {
      const [start = ''] = textOf(got).split('" ...: ')
      return textOf(got).length > 16_384 && want.code === got.code && textOf(want).startsWith(start)
    },
  },
  {
    reason: 'findings of a schema have no order',
    fits: (want, got) =>
      want.code === 422 &&
      got.code === 422 &&
      sortedText(textOf(want)) === sortedText(textOf(got)) &&
      sortedText(JSON.stringify(want.body?.details) ?? '') === sortedText(JSON.stringify(got.body?.details) ?? ''),
  },
  {
    reason: 'messages about invalid YAML have the wording of the parser',
    fits: (want, got) => bothMatch(want, got, /yaml: (line \d+: )?(did|found|could|mapping|control|unknown)/),
  },
  {
    reason: 'an omitted kind or apiVersion is inferred from the endpoint',
    ends: true,
    fits: (want) =>
      want.code >= 400 &&
      /Object '?Kind'? is missing in|Object '?apiVersion'? is missing|the API version in the data \(\)|invalid object type: (?:\/, Kind=|.*, Kind=$)|\.apiVersion accessor error: <nil>|in version "" cannot be handled/.test(
        textOf(want),
      ),
  },
  {
    reason: 'messages quote a body without a kind as it was read, without secrets',
    fits: (want, got) =>
      bothMatch(
        want,
        got,
        /Object '?Kind'? is missing in|json parse error: json: cannot unmarshal|unexpected GroupVersion string/,
      ),
  },
  {
    reason: 'no message quotes a part of a body that could be a key',
    fits: (want, got) => /<redacted>|u003credacted/.test(textOf(got)) && want.code === got.code,
  },
  {
    reason: 'validation of an applied configuration stops in a map at its first undeclared field, in random order',
    fits: fitsUpToUndeclaredFields,
  },
  {
    reason: 'mistakes of clients do not return server errors',
    fits: (want, got) =>
      want.code === 500 &&
      got.code >= 400 &&
      got.code < 500 &&
      (textOf(want).startsWith(textOf(got)) ||
        removeQuotes(textOf(want)).includes('Object apiVersion is missing') ||
        [want, got].every((one) => textOf(one).startsWith('yaml: '))),
  },
  {
    reason: 'messages do not describe how UIDs are compared',
    fits: (want, got) =>
      /StorageError: /.test(textOf(want)) &&
      textOf(want).replace(/StorageError: .*?AdditionalErrorMsg: /, '') === textOf(got) &&
      want.code === got.code,
  },
  {
    reason: 'fields that this API computes are unknown to kube-apiserver',
    ends: true,
    fits: (want, got) =>
      [want.headers?.warning, textOf(want)].some((text = '') =>
        /unknown field \\?"status\.(phase|owner|hint|expirationTimestamp)/.test(text),
      ) &&
      (want.code === got.code || want.code >= 400),
  },
  {
    reason: 'only reviews support protobuf',
    fits: (want, got) =>
      /\bprotobuf\b/.test(textOf(want)) &&
      (want.code === 500 ||
        sortedText(textOf(want)) === sortedText(`${textOf(got)}, application/vnd.kubernetes.protobuf`)),
  },
]

/** Returns the tolerance for a difference, or undefined when there is none. */
export const toleranceOf = (
  step: Step,
  want: Answer,
  got: Answer,
  earlier: readonly Step[] = [],
): Tolerance | undefined => tolerances.find(({ fits }) => fits(want, got, step, earlier))
