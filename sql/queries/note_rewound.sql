-- Remembers that the counter of transactions went backwards, where it did.
SELECT countersign.note_rewound();
