/**
 * Parses scope chains read from storage, the authorizer's context and tokens. Only chains that fully match the schema
 * are accepted.
 */
import type { Schema } from '../../engine/meta/schema/schema.ts'
import { isObject, own } from '../../engine/meta/value/walk.ts'
import { MAX_CHAIN_SCOPES } from './chain.ts'
import { type ScopeChain, scopeSchema } from './scope.ts'

/**
 * Returns the value as a chain. Throws an Error without the value when it is not a chain, is too long, or has an
 * unknown member. Such a member may be a restriction that only newer code understands.
 */
export function parseChain(value: unknown): ScopeChain {
  if (!Array.isArray(value) || value.length > MAX_CHAIN_SCOPES) throw new Error('not a chain of scopes')
  if (!value.every((scope) => conforms(scope, scopeSchema))) throw new Error('a scope does not match its schema')
  return value as ScopeChain
}

function conforms(value: unknown, schema: Schema): boolean {
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' && (schema.enum === undefined || schema.enum.includes(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return Number.isSafeInteger(value)
    case 'list':
      return Array.isArray(value) && value.every((item) => conforms(item, schema.items))
    case 'map':
      return isObject(value) && Object.values(value).every((item) => conforms(item, schema.values))
    case 'object':
      return (
        isObject(value) && Object.entries(value).every(([name, item]) => isKnown(own(schema.properties, name), item))
      )
  }
}

const isKnown = (schema: Schema | undefined, value: unknown): boolean => schema !== undefined && conforms(value, schema)
