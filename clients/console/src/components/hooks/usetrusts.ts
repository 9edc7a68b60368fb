/** Reads the lists of trusts and providers, which several pages share. */
import { type Listed, listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import type { Provider, Trust } from '../../api/trusts.ts'
import { type Query, useQuery } from '../../session/usequery.ts'

export const useTrusts = (): Query<Listed<Trust>> =>
  useQuery('trusts', ({ api }, signal) => listAll<Trust>(api, paths.trusts, signal))

/** The providers that the person may use. Administrators see all. */
export const useProviders = (): Query<Listed<Provider>> =>
  useQuery('providers', ({ api }, signal) => listAll<Provider>(api, paths.providers, signal))
