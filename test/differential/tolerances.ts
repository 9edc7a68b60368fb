/** Where answers may differ from those of a kube-apiserver, by rule and not by request: each with its reason. */
import type { Answer, Step } from '../conformance/scenario.ts'

interface Tolerance {
  reason: string
  fits(want: Answer, got: Answer, step: Step): boolean
}

const tolerances: readonly Tolerance[] = [
  {
    reason: 'what a client did wrong is not answered as a failure of the server',
    fits: (want, got) =>
      want.code === 500 &&
      got.code === 400 &&
      /^strconv\.ParseUint/.test(got.body?.message) &&
      want.body?.message === got.body?.message,
  },
  {
    reason: 'nothing but reviews is read or written as protobuf',
    fits: (want, got) =>
      (want.code === 406 || want.code === 415) &&
      want.code === got.code &&
      want.body?.message === `${got.body?.message}, application/vnd.kubernetes.protobuf`,
  },
]

/** Why a difference is none; undefined where it is one. */
export const tolerance = (step: Step, want: Answer, got: Answer): string | undefined =>
  tolerances.find(({ fits }) => fits(want, got, step))?.reason
