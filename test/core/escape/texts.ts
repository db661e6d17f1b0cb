// Hostile texts for the fuzzers of all media: pieces that have a meaning in one of them, with other characters between.
import fc from 'fast-check'
import { letter } from '../../support/fuzz.ts'

const words = (text: string): readonly string[] => text.split(' ')

const PIECES = [
  ...words('@octocat -@octocat +@octocat .@octocat a@b.example @org/team @"x" #1 GH-1 gh-22 owner/repo#3 a/b@0123abc'),
  ...words('www.example.com https://example.com/a?b ftp://x mailto:a@b.example xmpp:a@b.example/c HTTP://X :smile: :+1: !4 %5 ~6'),
  ...words('[a](b) ![a](b) [^1] ` `` * ** _ ~~ \\ | || <b> </code> <!-- --> &amp; &#64; & $x$'),
  ...['~"a b"', '[a]: b'],
  ...['- ', '+ ', '* ', '1. ', '23) ', '# ', '=', '===', '---', '    ', '> ', '```', '~~~', ':---', '[x] ', '\n\n', '\r', '\t', ' '],
  ...words('=1+1 +1 -1 @SUM(A1) \t=1 \r=1 \ufeff=1 \u200b=1 \0=1 ;=1 " "" \' , ; \uff1d1 \u22121 ",=1 ";=1'),
  ' =1',
  ...words('\u001b[2J \u001b]8;;http://x\u0007 \u009b31m \u0007 \b \u007f \u0000 \u0085 \u2028 \u202e \u2066 \u200f \u061c'),
  ...words('\u200b \u200c \u200d \u2060 \ufeff \u00ad \u3164 \u034f \ufe0f \u{e0041} \ud800 \udc00'),
  ...words('日本 é e\u0301 👩\u200d💻 نمی\u200cدانم'),
  ...words('<script>alert(1)</script> {{x}} </style> ]]> a Z 7 team ada.lovelace'),
  ...['"><img src=x onerror=1>', "' onclick='"],
]

/** Any text, most of it of pieces that are dangerous somewhere. */
export const texts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: fc.string({ unit: letter, maxLength: 4 }) }),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''))
