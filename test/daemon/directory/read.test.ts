// The people file: what is read of it, and where it is wrong.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPeopleFile } from '../../../src/daemon/directory/read.ts'
import { realClock } from '../../support/real-clock.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const folder = temporaryFolder()
const settings = { file: join(folder, 'people.csv'), id: 'email', columns: ['costCenter', 'unit'] }

const read = (text: string | Buffer, emails: readonly string[] = ['ada@example.com']) => {
  writeFileSync(settings.file, text)
  return readPeopleFile(settings, emails, realClock())
}

const HEAD = 'email,secret,costCenter,unit\n'

describe('a people file is read', () => {
  it('keeps the id and the named columns, and nothing else of the people who are asked for', async () => {
    const answer = await read(`${HEAD}ada@example.com,hidden,CC-12,Research\nalan@example.com,x,CC-7,\n`)
    expect(answer).toEqual({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      people: new Map([['ada@example.com', { costCenter: 'CC-12', unit: 'Research' }]]),
      others: ['alan@example.com'],
    })
    expect(JSON.stringify(answer)).not.toContain('hidden')
  })

  it.each([
    ['with a byte order mark', `\uFEFF${HEAD}ada@example.com,,CC-12,R\n`],
    ['with CRLF', `${HEAD}ada@example.com,,CC-12,R\n`.replaceAll('\n', '\r\n')],
    ['with CRLF below a header without', `${HEAD}ada@example.com,,CC-12,R\r\n`],
    ['without a last line end', `${HEAD}ada@example.com,,CC-12,R`],
    ['with quotes', `"email","secret","costCenter","unit"\n"ada@example.com","a, ""b""\nc","CC-12","R"\n`],
    ['with columns in another order', 'unit,costCenter,x,email\nR,CC-12,,ada@example.com\n'],
    ['with an address in capitals and between spaces', `${HEAD} Ada@Example.com ,,CC-12,R\n`],
  ])('%s', async (_, text) => {
    expect(await read(text)).toMatchObject({ people: new Map([['ada@example.com', { costCenter: 'CC-12', unit: 'R' }]]) })
  })

  it('keeps a text to the letter', async () => {
    const answer = await read(`${HEAD}ada@example.com,, CC-12 ,Zürich 東京\n`)
    expect(answer).toMatchObject({ people: new Map([['ada@example.com', { costCenter: ' CC-12 ', unit: 'Zürich 東京' }]]) })
  })
})

describe('a people file is invalid as a whole', () => {
  const row = (number: number) => `p${number}@example.com,,CC-${number % 7},Ü\n`
  const many = Array.from({ length: 20_000 }, (_, index) => row(index)).join('')
  it.each<readonly [string, string | Buffer, string]>([
    ['without anything in it', '', '1: is empty: the first line must name the columns'],
    ['that is not UTF-8', Buffer.from(`${HEAD}ada@example.com,,Caf\xe9,R\n`, 'latin1'), '2: is not UTF-8'],
    [
      'that is not UTF-8 far behind',
      Buffer.concat([Buffer.from(HEAD + many), Buffer.from('ada@example.com,,Caf\xe9,R\n', 'latin1')]),
      '20002: is not UTF-8',
    ],
    ['that ends within a character', Buffer.from(`${HEAD}ada@example.com,,CC,\xc3`, 'latin1'), '2: is not UTF-8'],
    ['with a byte of 0', `${HEAD}ada@example.com,,C\0C,R\n`, '2: has a byte of 0, so it is no text'],
    ['with semicolons', 'email;costCenter;unit\n', '1: has no column "email": its cells are separated by ;, not by commas'],
    ['with tabs', 'email\tcostCenter\tunit\n', '1: has no column "email": its cells are separated by tabs, not by commas'],
    ['with a short row', `${HEAD}a@example.com,,1,2\nb@example.com,1\n`, '3: has 2 cells, and the header has 4'],
    ['with a long row', `${HEAD}a@example.com,,1,2,3\n`, '2: has 5 cells, and the header has 4'],
    ['with an empty line', `${HEAD}a@example.com,,1,2\n\n`, '3: has 1 cell, and the header has 4'],
    ['with a column twice', 'email,unit,costCenter,unit\n', '1: has the column "unit" twice'],
    ['with a column without a name', 'email,,costCenter,unit\n', '1: has no name for column 2'],
    ['without a column', 'email,costCenter\n', '1: has no column "unit"'],
    ['with millions of columns', ','.repeat(15_000_000), '1: has more than the 10000 cells that are read'],
    [
      'with millions of cells in a row',
      `${HEAD}a@example.com,x,1,"2\n"${',"\n"'.repeat(3_000_000)}`,
      '9999: has more than the 10000 cells that are read',
    ],
    ['with an address twice', `${HEAD}a@x.yz,,1,2\nb@x.yz,"x\ny",1,2\nA@x.yz,,3,4\n`, '5: has an address that line 2 has as well'],
    ['with a row without an address', `${HEAD},,1,2\n`, '2: has no e-mail address in the column email'],
    ['with a quote that is not closed', `${HEAD}a@example.com,"x,1,2\n`, 'a quote is not closed'],
    ['with text after a quote', `${HEAD}a@example.com,"x"y,1,2\n`, 'a quote is closed within a cell'],
    ['with too long a value', `${HEAD}a@example.com,,${'x'.repeat(201)},2\n`, 'has more than 200 characters in the column costCenter'],
    [
      'with too many rows',
      HEAD + Array.from({ length: 100_001 }, (_, index) => `p${index}@example.com,,1,2\n`).join(''),
      '100002: has more than the 100000 rows that are read',
    ],
    ['with a row that does not end', `${HEAD}"${'x\n'.repeat(100_000)}`, 'a quote is not closed'],
  ])('%s', async (_, text, message) => {
    const answer = await read(text)
    expect('invalid' in answer ? `${answer.line}: ${answer.invalid}` : 'the file was taken').toContain(message)
  })

  it('that is missing, too large, or a folder', async () => {
    await expect(read('x'.repeat(16 * 1024 * 1024 + 1))).resolves.toEqual({
      invalid: 'has more than the 16777216 bytes that are read',
      line: 1,
    })
    const missing = await readPeopleFile({ ...settings, file: join(folder, 'none.csv') }, [], realClock())
    expect(missing).toMatchObject({ invalid: 'does not exist' })
    const isFolder = await readPeopleFile({ ...settings, file: folder }, [], realClock())
    expect(isFolder).toMatchObject({ invalid: 'is not a regular file' })
  })
})
