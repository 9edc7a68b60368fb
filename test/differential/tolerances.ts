/** Where answers may differ from those of a kube-apiserver, by rule and not by request: each with its reason. */
import type { Answer, Step } from '../conformance/scenario.ts'

export interface Tolerance {
  reason: string
  fits(want: Answer, got: Answer, step: Step): boolean
  /** What follows is not compared: the two servers are not in one state any more. */
  ends?: true
}

const sortedText = (text: string): string => [...text].sort().join('')

/** The message, without quotes where it comes in YAML; all lines where it has several. */
function textOf({ body, lines = [] }: Answer): string {
  const line = lines.find((one) => /^message: [^|]/.test(one))
  return typeof body?.message === 'string' ? body.message : (line?.slice('message: '.length) ?? lines.join('\n'))
}

const unquoted = (text: string): string => text.replace(/["']/g, '')

const both = (want: Answer, got: Answer, pattern: RegExp): boolean =>
  want.code === got.code && [want, got].every((answer) => pattern.test(textOf(answer)))

const versionless = (answer: Answer): string => sortedText(JSON.stringify(answer).replace(/rv#\d+/g, 'rv'))

const tolerances: readonly Tolerance[] = [
  {
    reason: 'a map of metadata that an apply emptied lies in etcd until the next write, which then is one',
    ends: true,
    fits: (want, got, { method }) =>
      /^(PUT|PATCH)$/.test(method) &&
      /f:(labels|annotations|finalizers|ownerReferences)(":|: )\{\}/.test(JSON.stringify(want)) &&
      versionless(want) === versionless(got),
  },
  {
    reason: 'findings of a schema come in no order',
    fits: (want, got) =>
      want.code === 422 &&
      got.code === 422 &&
      sortedText(textOf(want)) === sortedText(textOf(got)) &&
      sortedText(JSON.stringify(want.body?.details) ?? '') === sortedText(JSON.stringify(got.body?.details) ?? ''),
  },
  {
    reason: 'what is wrong with a YAML text is said in the words of its parser',
    fits: (want, got) => both(want, got, /yaml: (line \d+: )?(did|found|could|mapping|control|unknown)/),
  },
  {
    reason: 'a body that does not say its kind is shown as it was read, without secrets',
    fits: (want, got) =>
      both(
        want,
        got,
        /Object '?Kind'? is missing in|json parse error: json: cannot unmarshal|unexpected GroupVersion string/,
      ),
  },
  {
    reason: 'no message shows a part of a body, which could be a key',
    fits: (want, got) => /<redacted>|u003credacted/.test(textOf(got)) && want.code === got.code,
  },
  {
    reason: 'of the undeclared fields of an applied configuration any may be found first, and ends the search',
    fits: (want, got) => both(want, got, /failed to create typed patch object/),
  },
  {
    reason: 'what a client did wrong is not answered as a failure of the server',
    fits: (want, got) =>
      want.code === 500 &&
      got.code >= 400 &&
      got.code < 500 &&
      (textOf(want).startsWith(textOf(got)) ||
        unquoted(textOf(want)).includes('Object apiVersion is missing') ||
        [want, got].every((one) => textOf(one).startsWith('yaml: '))),
  },
  {
    reason: 'how a uid is compared is no business of clients',
    fits: (want, got) =>
      /StorageError: /.test(textOf(want)) &&
      textOf(want).replace(/StorageError: .*?AdditionalErrorMsg: /, '') === textOf(got) &&
      want.code === got.code,
  },
  {
    reason: 'fields that are computed here are unknown there',
    ends: true,
    fits: (want, got) =>
      [want.headers?.warning, textOf(want)].some((text = '') =>
        /unknown field \\?"status\.(phase|owner|expirationTimestamp)/.test(text),
      ) &&
      (want.code === got.code || want.code >= 400),
  },
  {
    reason: 'nothing but reviews is read or written as protobuf',
    fits: (want, got) =>
      /\bprotobuf\b/.test(textOf(want)) &&
      (want.code === 500 ||
        sortedText(textOf(want)) === sortedText(`${textOf(got)}, application/vnd.kubernetes.protobuf`)),
  },
]

/** Why a difference is none; undefined where it is one. */
export const toleranceOf = (step: Step, want: Answer, got: Answer): Tolerance | undefined =>
  tolerances.find(({ fits }) => fits(want, got, step))
