CREATE TABLE books (
    book_id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    author TEXT NOT NULL,
    shelf TEXT NOT NULL CHECK (shelf IN ('adults', 'children', 'archive')),
    copies INTEGER NOT NULL CHECK (copies >= 0)
);
CREATE TABLE members (
    member_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL
);
-- AUTOINCREMENT: the number of a loan that is gone is given to no other.
CREATE TABLE loans (
    loan_id INTEGER PRIMARY KEY AUTOINCREMENT,
    book_id TEXT NOT NULL REFERENCES books,
    member_id TEXT NOT NULL REFERENCES members,
    lent_on TEXT NOT NULL DEFAULT CURRENT_DATE,
    due_on TEXT NOT NULL,
    returned_on TEXT
);
CREATE VIEW open_loans AS SELECT * FROM loans WHERE returned_on IS NULL;

INSERT INTO books VALUES
    ('B01', 'Winter Bees', 'Lena Ostrow', 'adults', 1),
    ('B02', 'The Lamp Makers', 'Lena Ostrow', 'adults', 2),
    ('B03', 'The Salt Road', 'Idris Vale', 'adults', 1),
    ('B04', 'A Goat in the Attic', 'Mina Petrov', 'children', 3),
    ('B05', 'Tides of Glass', 'Idris Vale', 'adults', 1),
    ('B06', 'Counting Owls', 'Mina Petrov', 'children', 2);
INSERT INTO members VALUES
    ('M01', 'Jonas Weber', 'jonas@weber.example'),
    ('M02', 'Ines Duarte', 'ines.d@mail.example'),
    ('M03', 'Priya Nair', 'priya@nair.example'),
    ('M04', 'Tom Akande', 'tom@akande.example');
INSERT INTO loans (book_id, member_id, lent_on, due_on, returned_on) VALUES
    ('B03', 'M01', '2024-03-04', '2024-03-25', '2024-03-20'),
    ('B01', 'M01', '2024-05-02', '2024-05-23', NULL),
    ('B04', 'M03', '2024-04-29', '2024-05-20', NULL),
    ('B06', 'M03', '2024-05-06', '2024-05-27', NULL),
    ('B05', 'M04', '2024-04-10', '2024-05-01', NULL);
