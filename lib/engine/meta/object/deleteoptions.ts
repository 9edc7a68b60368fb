/**
 * Decodes the DeleteOptions in a request body. Where kube-apiserver returns 500, this returns 400 with the same message.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go, k8s.io/apiserver/pkg/endpoints/handlers/delete.go.
 */

import { type Floats, NO_FLOATS } from '../encoding/floats.ts'
import { decodeGoStruct, GoDecodeError, type GoStruct, type GoType } from '../encoding/gostruct.ts'
import { quote } from '../encoding/gotext.ts'
import { badRequest } from '../errors/status.ts'
import type { JsonValue } from '../types.ts'
import { decodeTypeMeta } from './typemeta.ts'

export interface SentDeleteOptions {
  dryRun: readonly string[]
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
}

const text = (type: string): GoType => ({ kind: 'string', type, pointer: true })

const preconditions: GoStruct = {
  kind: 'struct',
  type: 'v1.Preconditions',
  fields: { uid: text('types.UID'), resourceVersion: text('string') },
}

const deleteOptions: GoStruct = {
  kind: 'struct',
  type: 'v1.DeleteOptions',
  fields: {
    gracePeriodSeconds: { kind: 'int64', type: 'int64', pointer: true },
    preconditions,
    orphanDependents: { kind: 'bool', type: 'bool', keepZero: true },
    propagationPolicy: text('v1.DeletionPropagation'),
    dryRun: { kind: 'list', type: '[]string', items: { kind: 'string', type: 'string', keepZero: true } },
    ignoreStoreReadErrorWithClusterBreakingPotential: { kind: 'bool', type: 'bool', keepZero: true },
  },
}

/** Decodes DeleteOptions of any version; the kind may be absent. Ignores unknown members. Throws 400 if malformed. */
export function decodeDeleteOptions(value: JsonValue, floats: Floats = NO_FLOATS): SentDeleteOptions {
  try {
    const { apiVersion, kind } = decodeTypeMeta(value)
    if (apiVersion.split('/').length > 2) throw new GoDecodeError(`unexpected GroupVersion string: ${apiVersion}`)
    if (kind !== '' && kind !== 'DeleteOptions') {
      const version = quote(apiVersion || 'meta.k8s.io/v1')
      throw new GoDecodeError(`no kind ${quote(kind)} is registered for version ${version}`)
    }
    // The table above has the members and types of SentDeleteOptions.
    return { dryRun: [], ...decodeGoStruct(value, deleteOptions, { floats }).value } as unknown as SentDeleteOptions
  } catch (error) {
    throw error instanceof GoDecodeError ? badRequest(error.message) : error
  }
}
