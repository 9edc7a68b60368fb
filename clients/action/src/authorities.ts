/** Reads certificate authorities from inputs. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure, messageOf } from './runner/failure.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** Returns the certificates of an input, as PEM. Its value is PEM or the path of a file with PEM. Nothing but certificates is kept. */
export function readAuthorities(input: string, value: string): string {
  const text = value.includes('-----BEGIN') ? value : readText(input, value)
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new Failure(`${input} contains no PEM block of type CERTIFICATE`)
  for (const certificate of certificates) demandCertificate(input, certificate)
  return `${certificates.join('\n')}\n`
}

function readText(input: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Failure(`${input} is neither PEM nor a file that can be read: ${messageOf(error)}`)
  }
}

function demandCertificate(input: string, certificate: string): void {
  try {
    new X509Certificate(certificate)
  } catch (error) {
    throw new Failure(`${input} contains an invalid certificate: ${messageOf(error)}`)
  }
}
